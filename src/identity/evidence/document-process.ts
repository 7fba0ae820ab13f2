// Runs a program on each document in a process with memory and time limits, so that a hostile document affects only
// that process (threats row 18).
import { createFairSlots } from '../../lib/fair-slots.ts'
import { ownProcess } from '../../program/entries.ts'
import { DocumentInvalidError, EvidenceBusyError } from './errors.ts'

export interface DocumentProcessOptions {
  /** Entry file. Reads a document from standard input and exits with 3 if it can't open the document. */
  readonly script: string
  readonly programArguments?: readonly string[]
  readonly noun?: 'image' | 'PDF'
  readonly processesMax?: number
  readonly queueMax?: number
  /** Time from the start of the process to the last byte of its output. */
  readonly timeLimitMs?: number
  /** Address space limit. The runtime alone reserves 3.3 GB without using it. */
  readonly memoryLimitBytes?: number
  readonly outputBytesMax?: number
}

const REFUSED = 3
/** Sets the limits that the shell supports, then execs the program. Its priority is below signing. */
const LIMITED = 'ulimit -c 0; ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec nice -n 10 "$@"'

const readAtMost = async (stream: ReadableStream<Uint8Array>, maximum: number): Promise<Uint8Array | null> => {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of stream) {
    length += piece.length
    if (length > maximum) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}

export const createDocumentProcess = (options: DocumentProcessOptions) => {
  const {
    processesMax = 2,
    queueMax = 16,
    timeLimitMs = 20_000,
    memoryLimitBytes = 5 * 2 ** 30,
    outputBytesMax = 20 * 2 ** 20,
    script,
    noun = 'image',
    programArguments = [],
  } = options
  const program = ownProcess(script)
  const running = new Set<ReturnType<typeof spawn>>()
  const slots = createFairSlots(processesMax, queueMax)
  let closed = false

  const spawn = (document: Uint8Array) =>
    Bun.spawn(
      [
        '/bin/sh',
        '-c',
        LIMITED,
        'document',
        String(Math.floor(memoryLimitBytes / 1024)),
        String(Math.ceil(timeLimitMs / 1000) + 1),
        ...program.words,
        ...programArguments,
      ],
      {
        stdin: document,
        stdout: 'pipe',
        stderr: 'ignore',
        // A process that opens untrusted files gets no secrets.
        env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0', ...program.environment },
        cwd: '/',
      },
    )

  const run = async (document: Uint8Array): Promise<Uint8Array> => {
    if (closed) throw new EvidenceBusyError()
    const child = spawn(document)
    running.add(child)
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, timeLimitMs)
    try {
      const output = await readAtMost(child.stdout, outputBytesMax)
      if (output === null) throw new DocumentInvalidError(`the ${noun} is too complex: send a smaller file`)
      const code = await child.exited
      if (code === 0 && output.length > 0) return output
      if (closed) throw new EvidenceBusyError()
      if (late) throw new DocumentInvalidError(`the ${noun} takes too long to open: send a simpler file`)
      // Other exit codes mean a crash or an exceeded limit; the sender gets the same error.
      throw new DocumentInvalidError(`could not open the ${noun}`, code === REFUSED ? undefined : new Error(`${code}`))
    } finally {
      clearTimeout(timer)
      child.kill('SIGKILL')
      await child.exited
      running.delete(child)
    }
  }

  return {
    /**
     * Organizations take turns. @param organizationId empty for callers that never wait concurrently
     * @returns standard output @throws DocumentInvalidError, EvidenceBusyError
     */
    run: async (document: Uint8Array, organizationId: string): Promise<Uint8Array> => {
      const release = await slots.acquire(organizationId)
      if (release === null) throw new EvidenceBusyError()
      try {
        return await run(document)
      } finally {
        release()
      }
    },
    running: (): number => running.size,
    close: async (): Promise<void> => {
      closed = true
      for (const child of running) child.kill('SIGKILL')
      await Promise.all([...running].map((child) => child.exited))
    },
  }
}

export type DocumentProcess = ReturnType<typeof createDocumentProcess>
