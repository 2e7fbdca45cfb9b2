// Finds the WSGI application of a directory, for `portico serve` without a name.
//
// Looks at files, imports nothing. Main's thread.
#pragma once

#include <string>

namespace portico::run {

/// What was found: a reference as after `wsgi:`; empty: nothing.
///
/// Order: the module wsgi beside the settings that manage.py names (Django); wsgi.py, app.py,
/// application.py.
std::string find_application(const std::string& directory);

/// The module that a manage.py sets as DJANGO_SETTINGS_MODULE; "" where it does not.
std::string settings_module(const std::string& manage_text);

}  // namespace portico::run
