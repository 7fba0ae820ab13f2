// Server-Sent Events from bytes, as the HTML standard parses them (WHATWG HTML §9.2.6): lines that end with CR, LF or
// both, wherever the network cuts them; comments; several data lines; an event counts only once its empty line is there.

export interface ServerSentEvent {
  readonly data: string
  /** The latest id seen: what `Last-Event-ID` says when the stream is taken up again. Null before the first. */
  readonly lastEventId: string | null
}

export interface EventParser {
  /** The events that these bytes complete. @throws EventTooLongError */
  push(bytes: Uint8Array): ServerSentEvent[]
  /** How long the server wants its clients to wait before they come back; null unless it said so. */
  retryMs(): number | null
}

/** More than this without an event: it is not a stream of ours. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError'
}

const EVENT_MAX_CHARACTERS = 1_048_576

/** The text's complete lines, and what is left for the next bytes. */
const takeLines = (text: string): { lines: string[]; rest: string } => {
  // A CR at the very end may be half of a line end that the next bytes complete.
  const end = text.endsWith('\r') ? text.length - 1 : text.length
  const lines = text.slice(0, end).split(/\r\n|\n|\r/)
  const last = lines.pop() ?? ''
  return { lines, rest: last + text.slice(end) }
}

/** @param lastEventId of the stream that this one continues */
export const createEventParser = (lastEventId: string | null = null): EventParser => {
  // Drops a byte order mark at the beginning, and no other.
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  let dataLength = 0
  let id = lastEventId
  let retryMs: number | null = null

  const takeField = (line: string): void => {
    const colon = line.indexOf(':')
    // A comment.
    if (colon === 0) return
    const name = colon === -1 ? line : line.slice(0, colon)
    const text = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') {
      data.push(text)
      dataLength += text.length + 1
    } else if (name === 'id') {
      // What a header can't carry could not be sent back.
      id = /^[\x21-\x7e]{1,255}$/.test(text) ? text : null
    } else if (name === 'retry' && /^[0-9]{1,9}$/.test(text)) {
      retryMs = Number(text)
    }
  }

  return {
    push: (bytes) => {
      const taken = takeLines(rest + decoder.decode(bytes, { stream: true }))
      rest = taken.rest
      const events: ServerSentEvent[] = []
      for (const line of taken.lines) {
        if (line !== '') takeField(line)
        else if (data.length > 0) {
          events.push({ data: data.join('\n'), lastEventId: id })
          data = []
          dataLength = 0
        }
      }
      if (rest.length + dataLength > EVENT_MAX_CHARACTERS) throw new EventTooLongError('an event without an end')
      return events
    },
    retryMs: () => retryMs,
  }
}
