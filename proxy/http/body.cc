#include "proxy/http/body.h"

namespace portico::http {

Pull ReadyBody::pull(std::size_t room, core::Active& /*reader*/) {
  Pull pull;
  pull.flow = bytes_.empty() ? Flow::end : Flow::data;
  if (!bytes_.empty()) pull.piece = bytes_.take_front(room);
  return pull;
}

}  // namespace portico::http
