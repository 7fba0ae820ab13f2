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

/** The stream is not one of this service, whose events have a few kilobytes. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError'
}

const EVENT_MAX_CHARACTERS = 65_536

/** @param lastEventId of the stream that this one continues */
export const createEventParser = (lastEventId: string | null = null): EventParser => {
  // Drops a byte order mark at the beginning, and no other.
  const decoder = new TextDecoder()
  /** The line that has no end yet. It is never searched again, or a slow server could make each byte cost more. */
  let rest = ''
  let endsWithCr = false
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

  const extendLine = (text: string): void => {
    rest += text
    if (rest.length + dataLength > EVENT_MAX_CHARACTERS) throw new EventTooLongError('an event is too long')
  }

  return {
    push: (bytes) => {
      const text = decoder.decode(bytes, { stream: true })
      if (text === '') return []
      // The first half of this line end has ended the line.
      const start = endsWithCr && text.startsWith('\n') ? 1 : 0
      endsWithCr = text.endsWith('\r')
      const lines = text.slice(start).split(/\r\n|\n|\r/)
      const last = lines.pop() ?? ''
      const events: ServerSentEvent[] = []
      for (const line of lines) {
        extendLine(line)
        if (rest !== '') takeField(rest)
        else if (data.length > 0) {
          events.push({ data: data.join('\n'), lastEventId: id })
          data = []
          dataLength = 0
        }
        rest = ''
      }
      extendLine(last)
      return events
    },
    retryMs: () => retryMs,
  }
}
