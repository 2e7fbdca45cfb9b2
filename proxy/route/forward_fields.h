// What a relay changes in the fields of an endpoint's answer. Pure; any thread.
#pragma once

#include "proxy/http/head.h"

namespace portico::route {

/// Makes an endpoint's fields ready for the client: without those of the connection, nor those by
/// which an endpoint commands a proxy (X-Accel-Redirect, X-Sendfile and the like): only a trusted
/// one may, and none is yet.
void prepare_response(http::ResponseHead& head);

}  // namespace portico::route
