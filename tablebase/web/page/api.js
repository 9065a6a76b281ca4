// The service, from the page's side: questions, streams of events, errors with words.

const CLIENT = Math.random().toString(36).slice(2); // one search at a time for each tab

/** An answer that is none: the text and the status of a named error. */
export class ServiceError extends Error {
  constructor(content, status) {
    super(content.error || `the service answered ${status}`);
    this.kind = content.kind || "";
    this.status = status;
  }
}

async function request(path, how = {}) {
  const response = await fetch(`/api/v1/${path}`, {
    ...how,
    headers: { "X-Client": CLIENT, ...how.headers },
  });
  if (!response.ok) {
    throw new ServiceError(await response.json().catch(() => ({})), response.status);
  }
  return response;
}

function query(fields) {
  return new URLSearchParams(Object.entries(fields).filter(([, text]) => text !== ""));
}

/** GET a JSON answer. */
export async function ask(path, fields = {}, signal = undefined) {
  return (await request(`${path}?${query(fields)}`, { signal })).json();
}

/** POST an object; the answer is JSON, or text. */
export async function tell(path, content, token = "") {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await request(path, { method: "POST", headers, body: JSON.stringify(content) });
  const isJson = response.headers.get("Content-Type").startsWith("application/json");
  return isJson ? response.json() : response.text();
}

/** Server-sent events of a path until they end; `hear(name, content)` gets each. */
export async function listen(path, fields, signal, hear) {
  const response = await request(`${path}?${query(fields)}`, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const text of events) {
      const name = /^event: (.*)$/m.exec(text)[1];
      hear(name, JSON.parse(/^data: (.*)$/m.exec(text)[1]));
    }
  }
}

/** Whether something went wrong only because nobody wants it any more. */
export function wasCalledOff(error) {
  return error.name === "AbortError";
}
