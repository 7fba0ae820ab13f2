// Shows the progress of a long run on stderr, so that stdout contains only the result.

export interface Progress {
  /** Begins a section of steps of similar duration. After its first finished step, steps show the remaining time. */
  section(steps: number): void
  /** Call when a step of the section is finished. */
  finished(): void
  /** Shows a step that takes a while. On a terminal, it replaces the previous line. */
  step(text: string): void
  /** Prints a permanent line. */
  note(text: string): void
  /** Clears the line of the last step. */
  end(): void
}

const durationText = (milliseconds: number): string =>
  milliseconds < 100_000 ? `${Math.round(milliseconds / 1000)} s` : `${Math.round(milliseconds / 60_000)} min`

export const createProgress = (
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  nowMs: () => number = () => performance.now(),
): Progress => {
  const isTerminal = stream.isTTY === true
  const clear = isTerminal ? '\r\u001b[2K' : ''
  const startMs = nowMs()
  let section = { startMs, steps: 0, finished: 0, stepMs: 0 }
  const timeLeft = (): string => {
    const { steps, finished, stepMs } = section
    if (finished === 0 || finished === steps) return ''
    const leftMs = Math.max(0, section.startMs + stepMs * steps - nowMs())
    return ` (${durationText(leftMs)} left)`
  }
  const clock = (): string => `${((nowMs() - startMs) / 1000).toFixed(0).padStart(4)}s${timeLeft()}`
  return {
    section(steps) {
      section = { startMs: nowMs(), steps, finished: 0, stepMs: 0 }
    },
    finished() {
      section.finished++
      section.stepMs = (nowMs() - section.startMs) / section.finished
    },
    step: (text) => void stream.write(isTerminal ? `${clear}${clock()} ${text}` : `${clock()} ${text}\n`),
    note: (text) => void stream.write(`${clear}${text}\n`),
    end: () => void stream.write(clear),
  }
}
