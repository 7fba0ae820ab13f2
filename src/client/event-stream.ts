// Parser for Server-Sent Events (WHATWG HTML §9.2.6). Lines may be split anywhere and end with CR, LF or CRLF.

export interface ServerSentEvent {
  readonly data: string
  /** Value for `Last-Event-ID`, which the service ignores: a new stream starts with the current status. */
  readonly lastEventId: string | null
}

export interface EventParser {
  push(bytes: Uint8Array): ServerSentEvent[]
  /** Returns the reconnection delay from the server; null if there is none. */
  retryMs(): number | null
}

/** The service's own events have a few kilobytes. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError'
}

const EVENT_MAX_CHARACTERS = 65_536

export const createEventParser = (lastEventId: string | null = null): EventParser => {
  // Removes a byte order mark only at the beginning.
  const decoder = new TextDecoder()
  /** Incomplete line, not scanned again per chunk, so that a long line costs linear time. */
  let rest = ''
  let endsWithCr = false
  let data: string[] = []
  let dataLength = 0
  let id = lastEventId
  let retryMs: number | null = null

  const takeField = (line: string): void => {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon === -1 ? line : line.slice(0, colon)
    const text = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') {
      data.push(text)
      dataLength += text.length + 1
    } else if (name === 'id') {
      // Only a valid header value can be sent back.
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
      // The CR of this CRLF has ended the line already.
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
