// Starts the service as a process on free loopback ports, with only the given settings.
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailedError } from '../../../command-line/output.ts'
import { ownProcess } from '../../../program/entries.ts'
import { TRIAL_WORD } from '../../../program/labels.ts'

const START_LIMIT_MS = 120_000
const STOP_LIMIT_MS = 45_000
const KEPT_CHARACTERS = 4_000

const readyUrl = (line: string): string | null => {
  try {
    const { message, url } = JSON.parse(line) as { message?: unknown; url?: unknown }
    return message === 'ready' && typeof url === 'string' ? url : null
  } catch {
    // Some startup lines aren't JSON.
    return null
  }
}

/** @param environment all variables of the service @throws CommandFailedError with the service's last line */
export const startTrialService = async (environment: Readonly<Record<string, string>>, signal: AbortSignal) => {
  const program = ownProcess('src/main.ts')
  const anywhere = '127.0.0.1:0'
  const child = Bun.spawn([...program.words, TRIAL_WORD, '--no-demo'], {
    cwd: '/',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      COUNTERSIGN_API_LISTEN: anywhere,
      COUNTERSIGN_WORKERS: '1',
      // Serves no pages, so that passwords and sessions from the time of the backup can't be used.
      COUNTERSIGN_SERVE: 'attestation,identity',
      ...program.environment,
      ...environment,
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const ready = Promise.withResolvers<string | null>()
  let printed = ''
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    let partial = ''
    for await (const chunk of child.stderr) {
      const text = decoder.decode(chunk, { stream: true })
      printed = (printed + text).slice(-KEPT_CHARACTERS)
      const lines = (partial + text).split('\n')
      partial = lines.pop() ?? ''
      for (const line of lines) {
        const url = readyUrl(line)
        if (url !== null) ready.resolve(url)
      }
    }
    ready.resolve(null)
  }
  const reading = read()
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
    await Promise.all([child.exited, reading])
    clearTimeout(limit)
  }
  const giveUp = new AbortController()
  const limit = sleep(START_LIMIT_MS, null, { signal: AbortSignal.any([signal, giveUp.signal]) }).catch(() => null)
  const url = await Promise.race([ready.promise, limit])
  giveUp.abort()
  if (url === null) {
    await stop()
    const said = printed.trim().split('\n').at(-1) ?? ''
    throw new CommandFailedError(`the service did not start: ${said === '' ? 'no output' : said}`)
  }
  return { url, stop }
}
