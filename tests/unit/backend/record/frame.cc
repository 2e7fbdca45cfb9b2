// Frames: every answer in every split is read the same, and a lying worker is caught.
#include "backend/record/frame.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "backend/record/frame_reader.h"

using namespace portico::record;

namespace {

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

std::string describe_head(const char* what, const AnswerHead& head) {
  std::string text = what + std::to_string(head.status) + " " + std::string(head.reason);
  if (head.length_known) text += " length=" + std::to_string(head.content_length);
  if (head.no_body) text += " no-body";
  AnswerFields fields(head);
  std::string_view name;
  std::string_view value;
  while (fields.next(name, value)) text += " " + std::string(name) + ":" + std::string(value);
  return text;
}

/// Events as text; neighbouring data is joined, so that splits do not show.
class Log {
 public:
  /// Feeds one part, and says whether the reader still goes on.
  bool feed(FrameReader& reader, std::string_view part) {
    for (;;) {
      FrameEvent event = reader.next(part);
      if (event == FrameEvent::more) return part.empty();
      note(reader, event);
      if (event == FrameEvent::bad) return false;
    }
  }
  std::vector<std::string> events;

 private:
  void note(FrameReader& reader, FrameEvent event) {
    switch (event) {
      case FrameEvent::interim:
        return add(describe_head("interim ", reader.head()));
      case FrameEvent::head:
        return add(describe_head("head ", reader.head()) + " cell=" +
                   std::to_string(reader.cell()) + "/" + std::to_string(reader.serial()));
      case FrameEvent::data:
        return add_data(reader.data());
      case FrameEvent::file:
        ::close(reader.take_descriptor());
        return add("file " + std::to_string(reader.file().offset) + "+" +
                   std::to_string(reader.file().length));
      case FrameEvent::end:
        return add("end");
      case FrameEvent::abort:
        return add("abort " + std::to_string(static_cast<int>(reader.abort_reason())));
      case FrameEvent::bad:
        return add("bad");
      case FrameEvent::more:
        break;
    }
  }
  void add(std::string text) {
    in_data_ = false;
    events.push_back(std::move(text));
  }
  void add_data(std::string_view data) {
    if (!in_data_) add("data ");
    in_data_ = true;
    events.back() += data;
  }
  bool in_data_ = false;
};

using Events = std::vector<std::string>;

Events read_whole(std::string_view bytes, bool with_descriptor = false) {
  FrameReader reader;
  if (with_descriptor) reader.offer_descriptor(open_null());
  Log log;
  log.feed(reader, bytes);
  return log.events;
}

std::string written(const std::function<void(FrameWriter&)>& write) {
  Buffer out;
  FrameWriter writer(out);
  writer.start(5, 6);
  write(writer);
  return std::string(out.view());
}

void head(FrameWriter& writer, std::uint8_t flags = 0, std::uint64_t length = 0,
          std::uint16_t status = 200) {
  writer.begin_head(status, "OK");
  writer.head_field("Content-Type", "text/plain");
  REQUIRE(writer.finish_head(flags, length));
}

std::string two_answers() {
  return written([](FrameWriter& writer) {
    head(writer, head_length_known, 5);
    writer.data("he");
    writer.data("llo");
    writer.end();
    writer.start(7, 8);
    head(writer, head_no_body, 0, 204);
    writer.end();
    writer.abort(AbortReason::application_error);
  });
}

const Events two_answers_events = {
    "head 200 OK length=5 Content-Type:text/plain cell=5/6", "data hello", "end",
    "head 204 OK no-body Content-Type:text/plain cell=7/8",  "end",        "abort 1",
};

}  // namespace

TEST_CASE("frames: two answers and an abort are read as written") {
  CHECK(read_whole(two_answers()) == two_answers_events);
}

TEST_CASE("frames: every split in two, and byte by byte, gives the same") {
  std::string bytes = two_answers();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader;
    Log log;
    log.feed(reader, std::string_view(bytes).substr(0, cut));
    log.feed(reader, std::string_view(bytes).substr(cut));
    CHECK(log.events == two_answers_events);
  }
  FrameReader reader;
  Log log;
  for (char c : bytes) log.feed(reader, std::string_view(&c, 1));
  CHECK(log.events == two_answers_events);
}

TEST_CASE("frames: a reader knows whether it stands within an answer") {
  std::string bytes = written([](FrameWriter& writer) {
    head(writer);
    writer.end();
  });
  FrameReader reader;
  CHECK_FALSE(reader.within_answer());
  Log log;
  log.feed(reader, std::string_view(bytes).substr(0, 3));
  CHECK(reader.within_answer());
  log.feed(reader, std::string_view(bytes).substr(3, bytes.size() - 4));
  CHECK(reader.within_answer());
  log.feed(reader, std::string_view(bytes).substr(bytes.size() - 1));
  CHECK_FALSE(reader.within_answer());
}

TEST_CASE("frames: long data goes in frames of at most 64 KiB") {
  std::string body(200000, 'x');
  std::string bytes = written([&](FrameWriter& writer) {
    head(writer);
    writer.data(body);
    writer.end();
  });
  Events events = read_whole(bytes);
  REQUIRE(events.size() == 3);
  CHECK(events[1] == "data " + body);
  CHECK(bytes.size() == body.size() + written([](FrameWriter& writer) { head(writer); }).size() +
                            4 * sizeof(FrameHeader) + sizeof(FrameHeader));
}

TEST_CASE("frames: a file needs its descriptor") {
  std::string bytes = written([](FrameWriter& writer) {
    head(writer);
    writer.file(10, 20);
    writer.end();
  });
  CHECK(read_whole(bytes, true).at(1) == "file 10+20");
  CHECK(read_whole(bytes).at(1) == "bad");
}

TEST_CASE("frames: a second descriptor before the first was used is refused and closed") {
  FrameReader reader;
  int first = open_null();
  int second = open_null();
  CHECK(reader.offer_descriptor(first));
  CHECK_FALSE(reader.offer_descriptor(second));
  CHECK(::fcntl(second, F_GETFD) == -1);
  std::string_view nothing;
  CHECK(reader.next(nothing) == FrameEvent::bad);
}

TEST_CASE("frames: a descriptor that nobody took is closed with the reader") {
  int descriptor = open_null();
  {
    FrameReader reader;
    reader.offer_descriptor(descriptor);
  }
  CHECK(::fcntl(descriptor, F_GETFD) == -1);
}

TEST_CASE("frames: file ranges that overflow or are empty are bad") {
  for (const auto& range : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 0}, {UINT64_MAX, 1}, {1, INT64_MAX}}) {
    std::string bytes = written([&](FrameWriter& writer) {
      head(writer);
      writer.file(range.first, range.second);
    });
    CHECK(read_whole(bytes, true).back() == "bad");
  }
}

TEST_CASE("frames: the body must come to the announced length") {
  auto answer = [](std::uint8_t flags, std::uint64_t length, std::string_view body) {
    return read_whole(written([&](FrameWriter& writer) {
             head(writer, flags, length);
             writer.data(body);
             writer.end();
           }))
        .back();
  };
  CHECK(answer(head_length_known, 5, "hello") == "end");
  CHECK(answer(head_length_known, 4, "hello") == "bad");
  CHECK(answer(head_length_known, 6, "hello") == "bad");
  CHECK(answer(0, 0, "hello") == "end");
  CHECK(answer(head_no_body, 0, "hello") == "bad");
  CHECK(answer(head_length_known | head_no_body, 99, "") == "end");
}

TEST_CASE("frames: what is out of order is bad") {
  std::vector<std::function<void(FrameWriter&)>> lies = {
      [](FrameWriter& w) { w.data("x"); },
      [](FrameWriter& w) { w.end(); },
      [](FrameWriter& w) { head(w), head(w); },
      [](FrameWriter& w) { head(w), w.start(5, 7), w.data("x"); },
      [](FrameWriter& w) { head(w), w.start(6, 6), w.end(); },
      [](FrameWriter& w) { head(w, 0, 0, 204); },
      [](FrameWriter& w) { head(w, 0, 0, 304); },
      [](FrameWriter& w) { head(w, 0, 0, 100); },
      [](FrameWriter& w) { head(w, 0, 0, 199); },
      [](FrameWriter& w) { head(w, 0, 0, 600); },
      [](FrameWriter& w) { head(w, 4); },
      [](FrameWriter& w) { head(w), w.data_header(65537); },
      [](FrameWriter& w) { head(w), w.data_header(0); },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    INFO("lie " << i);
    CHECK(read_whole(written(lies[i])).back() == "bad");
  }
}

TEST_CASE("frames: heads that would split or frame the response are bad") {
  auto with_field = [](std::string_view name, std::string_view value) {
    return read_whole(written([&](FrameWriter& writer) {
             writer.begin_head(200, "OK");
             writer.head_field(name, value);
             writer.finish_head(0, 0);
           }))
        .back()
        .substr(0, 4);
  };
  CHECK(with_field("X-Fine", "value, \xE4") == "head");
  CHECK(with_field("X-Empty", "") == "head");
  for (std::string_view name : {"", "X A", "X:", "X\r\n", "\xE4", "Content-Length", "connection",
                                "Transfer-Encoding", "TE", "Upgrade", "Keep-Alive", "Trailer"})
    CHECK(with_field(name, "v") == "bad");
  for (std::string_view value :
       {std::string_view("a\r\nb"), std::string_view("a\0b", 3), std::string_view("\x7f"),
        std::string_view(" a"), std::string_view("a\t")})
    CHECK(with_field("X", value) == "bad");
  std::string bytes = written([](FrameWriter& writer) {
    writer.begin_head(200, "OK\r\nX: y");
    writer.finish_head(0, 0);
  });
  CHECK(read_whole(bytes).back() == "bad");
}

TEST_CASE("frames: abort reasons are a closed list") {
  for (int reason = 0; reason < 256; ++reason) {
    std::string bytes =
        written([&](FrameWriter& writer) { writer.abort(static_cast<AbortReason>(reason)); });
    CHECK(read_whole(bytes).back() ==
          (reason >= 1 && reason <= 6 ? "abort " + std::to_string(reason) : "bad"));
  }
}

TEST_CASE("frames: an interim head is a 1xx but not 101, and more may follow") {
  auto interim = [](std::uint16_t status) {
    std::string bytes = written([&](FrameWriter& writer) {
      writer.begin_interim(status, "OK");
      writer.head_field("Content-Type", "text/plain");
      writer.finish_head(0, 0);
      head(writer);
      writer.end();
    });
    return read_whole(bytes);
  };
  CHECK(interim(103).size() == 3);
  CHECK(interim(103).at(0) == "interim 103 OK Content-Type:text/plain");
  CHECK(interim(101).back() == "bad");
  CHECK(interim(200).back() == "bad");
}

TEST_CASE("frames: a head that is too large is not written, and what stood before stays") {
  Buffer out;
  FrameWriter writer(out);
  writer.abort(AbortReason::cancelled);
  std::size_t before = out.size();
  writer.begin_head(200, "OK");
  std::string value(60000, 'v');
  writer.head_field("A", value);
  writer.head_field("B", value);
  CHECK_FALSE(writer.finish_head(0, 0));
  CHECK(out.size() == before);
  writer.begin_head(200, "OK");
  for (std::size_t i = 0; i <= max_head_fields; ++i) writer.head_field("A", "");
  CHECK_FALSE(writer.finish_head(0, 0));
  CHECK(out.size() == before);
}

TEST_CASE("frames: no changed byte breaks the reader") {
  std::string bytes = two_answers();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int value : {0, 1, 2, 3, 5, 6, 0x7f, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(value);
      read_whole(changed);
    }
  }
  SUCCEED("the sanitizers have looked");
}
