// Bell: wakes all who wait for something to happen, each once.
//
// Owned by what happens (a log that gets lines, an answer that comes); one thread. Whoever waits
// owns a Hearer, and is forgotten when that is destroyed.
#pragma once

#include "proxy/core/list.h"
#include "proxy/core/loop.h"

namespace portico::core {

class Bell {
 public:
  class Hearer : public Link<Hearer> {
   private:
    friend class Bell;
    Wakeup wakeup_;
  };

  /// `reader` is woken at the next ring().
  void await(Hearer& hearer, Active& reader) {
    hearer.wakeup_.aim(reader);
    hearers_.push_back(hearer);
  }
  void ring() {
    hearers_.for_each([](Hearer& hearer) {
      hearer.unlink();
      hearer.wakeup_.fire();
    });
  }

 private:
  List<Hearer> hearers_;
};

}  // namespace portico::core
