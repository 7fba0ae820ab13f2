// Shows the progress of a long run on stderr, so that stdout holds only the result.

export interface Progress {
  /** A step that takes a while. On a terminal it replaces the line before. */
  step(text: string): void
  /** A line that stays. */
  note(text: string): void
  /** Clears the line of the last step. */
  end(): void
}

export const createProgress = (stream: NodeJS.WriteStream = process.stderr): Progress => {
  const isTerminal = stream.isTTY === true
  const clear = isTerminal ? '\r\u001b[2K' : ''
  const startMs = performance.now()
  const seconds = (): string => `${((performance.now() - startMs) / 1000).toFixed(0).padStart(4)}s`
  return {
    step: (text) => void stream.write(isTerminal ? `${clear}${seconds()} ${text}` : `${seconds()} ${text}\n`),
    note: (text) => void stream.write(`${clear}${text}\n`),
    end: () => void stream.write(clear),
  }
}
