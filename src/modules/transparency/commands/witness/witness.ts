// `countersign witness`: cosigns heads that extend the previous head. Polls the log (--log), or receives heads
// (--listen).
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailedError, type CommandOutput, parseCommand, UsageError } from '../../../../command-line/output.ts'
import { runToExitCode } from '../../../../command-line/print-error.ts'
import { parseListen } from '../../../../config/setting-values.ts'
import { fetchBounded } from '../../../../lib/bounded-fetch.ts'
import { systemClock } from '../../../../lib/time.ts'
import { PROGRAM } from '../../../../program/labels.ts'
import { openCheckpoint } from '../../tree/checkpoint.ts'
import {
  encodeVerifierKey,
  NoteInvalidError,
  parseVerifierKey,
  type VerifierKey,
  verifierKeyOf,
} from '../../tree/note.ts'
import type { ReadTiles } from '../../tree/prove.ts'
import { TILE_BYTES, TILE_WIDTH, tilePath } from '../../tree/tiles.ts'
import { judgeHead, widthIn } from '../../tree/witness.ts'
import { HEAD_MAX_BYTES } from '../../verify/tree-heads.ts'
import { readLogKeyOption } from '../proof.ts'
import { listenForHeads } from './witness-listen.ts'
import { openWitnessState, type WitnessState } from './witness-state.ts'

const USAGE = `Usage: ${PROGRAM} witness --listen ADDRESS --log-key KEY --state FOLDER --name NAME
       ${PROGRAM} witness --log PLACE --log-key KEY --state FOLDER --name NAME [--interval SECONDS] [--once]

Cosigns each head of a log that extends the last head it cosigned. With --listen, the log requests cosignatures; its setting
witnesses must contain this witness. With --log, the witness polls the files that the log publishes.

  --listen ADDRESS     host:port or :port to serve POST /add-checkpoint (C2SP tlog-witness) over http. Put an https proxy in
                       front of it.
  --log PLACE          https://…, http://… or dir:/path, which contains checkpoint and tile/.
  --log-key KEY        Verifier key of the log (${PROGRAM} proof key) from its operator, or a file that contains it.
  --state FOLDER       Folder for the witness's key and the file cosigned: the newest head with its cosignature. Created if
                       missing.
  --name NAME          Name of the witness, for example witness.example/1.
  --interval SECONDS   Polling interval (default 10).
  --once               Poll once, then exit with the result.

With --log, exits with 1 if a head is older than the last cosigned head or belongs to another history, even after a restart.
Heads of two histories are stored in the folder as evidence. Afterwards, the witness cosigns only heads that extend the last
cosigned head.
`

const LIMIT_MS = 15_000

/** The returned reader resolves to null for a missing file. */
const createPlace = (place: string): ((path: string, maxBytes: number) => Promise<Buffer | null>) => {
  if (place.startsWith('dir:') && isAbsolute(place.slice(4))) {
    return async (path) => {
      const file = join(place.slice(4), path)
      return existsSync(file) ? readFile(file) : null
    }
  }
  if (!/^https?:\/\//.test(place)) throw new UsageError('--log must be https://…, http://… or dir:/path')
  return async (path, maxBytes) => {
    const url = `${place.replace(/\/$/, '')}/${path}`
    const { status, body } = await fetchBounded(url, { timeoutMs: LIMIT_MS, maxBytes })
    if (status === 404) return null
    if (status !== 200) throw new CommandFailedError(`the log returned ${status} for ${path}`)
    return body
  }
}

interface WitnessContext {
  readonly output: CommandOutput
  readonly unixSeconds: () => number
  readonly signal: AbortSignal
}

const parseKeys = (logKey: string, name: string): ReturnType<typeof parseVerifierKey> => {
  try {
    // Validates only the name; the key doesn't exist yet.
    verifierKeyOf(name, 'cosignature', new Uint8Array(32))
    return parseVerifierKey(logKey)
  } catch (error) {
    if (error instanceof NoteInvalidError) throw new UsageError(error.message)
    throw error
  }
}

const parseAddress = (text: string): ReturnType<typeof parseListen> => {
  try {
    return parseListen(text)
  } catch (error) {
    throw new UsageError(`--listen ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

/** @throws CommandFailedError if the last cosigned head isn't a head of the log, so no other head can extend it */
const requireHead = async ({ before }: WitnessState, logKey: VerifierKey): Promise<void> => {
  const head = await before()
  try {
    if (head !== null) openCheckpoint(head, logKey)
  } catch (error) {
    if (error instanceof NoteInvalidError) {
      throw new CommandFailedError(`the file “cosigned” in --state is not a head of this log: ${error.message}`)
    }
    throw error
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Exit codes: 0 success, 1 refused or unreachable, 2 usage error. */
export const runWitness = (commandArguments: readonly string[], context: WitnessContext): Promise<number> =>
  runToExitCode(context.output, USAGE, commandArguments, async () => {
    const { output, unixSeconds, signal } = context
    const command = parseCommand(commandArguments, {
      log: { type: 'string' },
      listen: { type: 'string' },
      'log-key': { type: 'string' },
      state: { type: 'string' },
      name: { type: 'string' },
      interval: { type: 'string' },
      once: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('witness accepts only options')
    const listenText = command.text('listen')
    const listen = listenText === undefined ? null : parseAddress(listenText)
    if (listen !== null && ((command.text('log') ?? command.text('interval')) !== undefined || command.flag('once'))) {
      throw new UsageError('--listen excludes --log, --interval and --once')
    }
    const read = listen === null ? createPlace(command.required('log')) : null
    const intervalSeconds = Number(command.text('interval') ?? '10')
    if (!(intervalSeconds >= 1 && intervalSeconds <= 3_600))
      throw new UsageError('--interval must be 1 to 3600 seconds')
    const name = command.required('name')
    const logKey = parseKeys(readLogKeyOption(command.required('log-key'), 'log-key'), name)
    const state = openWitnessState(command.required('state'), name, unixSeconds)

    const tilesOf =
      (place: NonNullable<typeof read>, size: number): ReadTiles =>
      async (tiles) =>
        Promise.all(
          tiles.map(async (tile) => {
            const width = widthIn(tile, size)
            const full = (): Promise<Buffer | null> => place(tilePath(tile), TILE_BYTES)
            const found =
              width === TILE_WIDTH ? await full() : ((await place(tilePath(tile, width), TILE_BYTES)) ?? (await full()))
            return found ?? new Uint8Array(0)
          }),
        )

    const look = async (place: NonNullable<typeof read>): Promise<'fine' | 'refused'> => {
      const offered = (await place('checkpoint', HEAD_MAX_BYTES))?.toString('utf8')
      if (offered === undefined) throw new CommandFailedError('the log has no checkpoint at this location')
      const before = await state.before()
      const judgement = await judgeHead(before, offered, logKey, (size) => tilesOf(place, size))
      if (judgement.kind === 'refused') {
        output.stderr(`refused: ${judgement.reason}\n`)
        if (judgement.evidence && before !== null) {
          const evidence = await state.keepEvidence(before, offered)
          output.stderr(`both signed heads are in ${evidence}\n`)
        }
        return 'refused'
      }
      // Cosigns an unchanged head too, because the new time shows that the log was checked.
      await state.cosign(offered, logKey)
      if (judgement.kind === 'continued') output.stdout(`cosigned ${judgement.head.size} lines\n`)
      return 'fine'
    }

    try {
      await requireHead(state, logKey)
      output.stderr(`witness key: ${encodeVerifierKey(state.key)}\n`)
      if (listen !== null) {
        const server = listenForHeads(listen, logKey, state, { ...output, monotonicMs: systemClock.monotonicMs })
        output.stderr(`listening at ${server.url}\n`)
        await aborted(signal)
        await server.stop()
        return 0
      }
      for (;;) {
        try {
          if (read !== null && (await look(read)) === 'refused') return 1
        } catch (error) {
          // An unreachable log isn't a violation.
          const reason = error instanceof Error ? error.message : String(error)
          if (command.flag('once')) throw new CommandFailedError(reason)
          output.stderr(`could not check the log: ${reason}\n`)
        }
        if (command.flag('once') || signal.aborted) return 0
        await sleep(intervalSeconds * 1_000, undefined, { signal }).catch(() => undefined)
        if (signal.aborted) return 0
      }
    } finally {
      state.close()
    }
  })
