// `countersign screener-stub`: an HTTP screener for trials, whose result depends on the last characters of the address.

import { type CommandOutput, parseCommand, UsageError } from '../command-line/output.ts'
import { runToExitCode } from '../command-line/print-error.ts'
import { parseListen } from '../config/setting-values.ts'
import { parseAnyAddress } from '../domain/address-key.ts'
import { PROGRAM } from '../program/labels.ts'
import { leaveAfterTurn } from '../server/event-loop-turns.ts'
import { type ListenAddress, listenUrl } from '../server/listen-address.ts'

const USAGE = `Usage: ${PROGRAM} screener-stub [--listen HOST:PORT]

Runs a screener for trials and tests until interrupted. It screens nothing: addresses that end in "dead" are flagged with a score of 100, and all others have a score of 0. Call GET /screen/ADDRESS, or POST /screen with {"address": "…"}.
docs/examples/screener.yaml configures the service to use it.

  --listen HOST:PORT   Address to listen on (default 127.0.0.1:8099)
  --help               Print this help
`

const NOTICE = 'This is a stub for trials and tests: it screens nothing.'
const FLAGGED_ENDING = 'dead'
const BODY_BYTES_MAX = 4_096

const answerTo = (text: unknown): Response => {
  const address = typeof text === 'string' ? parseAnyAddress(text) : null
  const headers = { 'x-stub': 'true' }
  if (address === null) {
    return Response.json(
      { stub: true, notice: NOTICE, error: 'address must be an EVM or Solana address' },
      { status: 400, headers },
    )
  }
  const flagged = address.toLowerCase().endsWith(FLAGGED_ENDING)
  const verdict = { flagged, score: flagged ? 100 : 0, categories: flagged ? ['stub'] : [] }
  return Response.json({ stub: true, notice: NOTICE, address, ...verdict }, { headers })
}

const addressIn = async (request: Request): Promise<unknown> => {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET') return decodeURIComponent(/^\/screen\/([^/]+)$/.exec(pathname)?.[1] ?? '')
  if (request.method !== 'POST' || pathname !== '/screen') return null
  const body: unknown = await request.json()
  return typeof body === 'object' && body !== null && 'address' in body ? body.address : null
}

export const startScreenerStub = ({ hostname, port }: ListenAddress) => {
  const server = Bun.serve({
    hostname,
    port,
    maxRequestBodySize: BODY_BYTES_MAX,
    fetch: leaveAfterTurn(async (request: Request) => {
      try {
        return answerTo(await addressIn(request))
      } catch {
        // The request contains no address.
        return answerTo(null)
      }
    }),
  })
  return {
    url: listenUrl({ hostname, port: server.port ?? 0 }),
    stop: (): Promise<void> => server.stop(true),
  }
}

export type ScreenerStub = ReturnType<typeof startScreenerStub>

const listenAddress = (text: string): ListenAddress => {
  try {
    return parseListen(text)
  } catch (error) {
    throw new UsageError(`--listen ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

export const runScreenerStub = (
  commandArguments: readonly string[],
  { output, stopped }: { readonly output: CommandOutput; readonly stopped: () => Promise<void> },
): Promise<number> =>
  runToExitCode(output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, {
      listen: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('screener-stub accepts only options')
    const stub = startScreenerStub(listenAddress(command.text('listen') ?? '127.0.0.1:8099'))
    output.stderr(`${NOTICE}\nlistening on ${stub.url}\n`)
    await stopped()
    await stub.stop()
    return 0
  })
