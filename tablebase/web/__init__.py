"""The explorer: a service and a page where people play, look and learn, for every game.

    page/        HTML, CSS, JavaScript modules: no framework, no build step, nothing from elsewhere
    http         a small HTTP/1.1 server on asyncio: strict, bounded, tells when a client leaves
    guard        which requests are let in at all: hosts, origins, the token of builds
    questions    boards and positions from a query, bounded
    shelf        the tables that are there, open
    searches     at most N searches at once, one a client, each with a deadline, cancelled
                 when the client leaves
    answers      what the service answers: the JSON of `tablebase.answers`, and scenes
    stream       values first, then distances, as server-sent events
    seats        players by name, for `move`
    games        a game to a file and back: the records of `retro.play`
    works        builds in the background, in a process of their own
    routes       which path asks what
    server       the command's door: sockets, workers, signals

Everything stands on the standard library, so that the plain install serves. asyncio and not
`http.server`: an open stream costs a few kilobytes instead of a thread, and that a client has
left is an event, not something to be polled from a thread that is busy.
"""
