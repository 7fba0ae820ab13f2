// `countersign witness`: follows a log from another machine, checks that each head goes on from the last one, and cosigns it.
// What was cosigned is on the disk before anybody sees the cosignature, so that no restart makes it sign another history.
import { existsSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HEAD_MAX_BYTES } from '../decisions/tree-heads.ts'
import { makeKeyFile, readKeyFile } from '../setup/key-file.ts'
import { createEd25519Signer } from '../signing/ed25519.ts'
import { writePrivateFile } from '../signing/private-file.ts'
import { cosign } from '../transparency/cosignature.ts'
import { encodeVerifierKey, NoteInvalidError, parseVerifierKey, verifierKeyOf } from '../transparency/note.ts'
import type { ReadTiles } from '../transparency/prove.ts'
import { TILE_BYTES, TILE_WIDTH, tilePath } from '../transparency/tiles.ts'
import { judgeHead, widthIn } from '../transparency/witness.ts'
import { CommandFailedError, type CommandOutput, parseCommand, runToExitCode, UsageError } from './output.ts'

const USAGE = `Usage: bun run countersign witness --log PLACE --log-key KEY --state FOLDER --name NAME [--interval SECONDS] [--once]

Follows a log whose tiles are published (countersign decisions publish), and cosigns each head that goes on from the last.

  --log PLACE          https://…, http://… or dir:/path, below which are checkpoint and tile/.
  --log-key KEY        The log's verifier key (countersign proof key), from its operator.
  --state FOLDER       Made where it is missing: the witness's key, and cosigned, the newest head with its cosignature.
  --name NAME          The witness's own name, such as witness.example/1.
  --interval SECONDS   Between two looks (default 10).
  --once               One look, and its result as the exit code.

A head that is older than the last or of another history is refused: both heads are kept in the folder as evidence, and
the command ends with 1. It never cosigns such a log again, also after a restart.
`

const LIMIT_MS = 15_000

/** Null where there is no such file. */
const createPlace = (place: string): ((path: string, maxBytes: number) => Promise<Buffer | null>) => {
  if (place.startsWith('dir:') && isAbsolute(place.slice(4))) {
    return async (path) => {
      const file = join(place.slice(4), path)
      return existsSync(file) ? readFile(file) : null
    }
  }
  if (!/^https?:\/\//.test(place)) throw new UsageError('--log expects https://…, http://… or dir:/path')
  return async (path, maxBytes) => {
    const url = `${place.replace(/\/$/, '')}/${path}`
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error' }).catch(
      (error: unknown) => {
        const { code, name } = error as { code?: unknown; name?: unknown }
        throw new CommandFailedError(`${url} can't be reached (${String(typeof code === 'string' ? code : name)})`)
      },
    )
    if (response.status === 404) return null
    if (!response.ok) throw new CommandFailedError(`the log answers ${response.status} for ${path}`)
    const parts: Uint8Array[] = []
    let length = 0
    for await (const part of response.body ?? []) {
      length += part.length
      // Leaving the loop ends the answer: a log can't fill the witness's memory.
      if (length > maxBytes) throw new CommandFailedError(`the log answers too much for ${path}`)
      parts.push(part)
    }
    return Buffer.concat(parts)
  }
}

export interface WitnessContext {
  readonly output: CommandOutput
  readonly unixSeconds: () => number
  readonly signal: AbortSignal
}

const readIfThere = async (path: string): Promise<string | null> => (existsSync(path) ? readFile(path, 'utf8') : null)

/** Returns the exit code: 0 ended, 1 refused or not reached, 2 usage. */
export const runWitness = (commandArguments: readonly string[], context: WitnessContext): Promise<number> =>
  runToExitCode(context.output, USAGE, async () => {
    const { output, unixSeconds, signal } = context
    const command = parseCommand(commandArguments, {
      log: { type: 'string' },
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
    if (command.positionals.length > 0) throw new UsageError('witness takes options only')
    const read = createPlace(command.required('log'))
    const folder = command.required('state')
    const intervalSeconds = Number(command.text('interval') ?? '10')
    if (!(intervalSeconds >= 1 && intervalSeconds <= 3_600))
      throw new UsageError('--interval expects 1 to 3600 seconds')
    let logKey: ReturnType<typeof parseVerifierKey>
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const keyFile = join(folder, 'key')
    if (!existsSync(keyFile)) makeKeyFile(keyFile)
    const { publicKey, sign } = createEd25519Signer(readKeyFile(keyFile, 'the witness key'))
    let witness: { key: ReturnType<typeof verifierKeyOf>; sign: typeof sign }
    try {
      logKey = parseVerifierKey(command.required('log-key'))
      witness = { key: verifierKeyOf(command.required('name'), 'cosignature', publicKey), sign }
    } catch (error) {
      if (error instanceof NoteInvalidError) throw new UsageError(error.message)
      throw error
    }
    output.stderr(`witness key: ${encodeVerifierKey(witness.key)}\n`)
    const cosigned = join(folder, 'cosigned')

    const tilesOf =
      (size: number): ReadTiles =>
      async (tiles) =>
        Promise.all(
          tiles.map(async (tile) => {
            const width = widthIn(tile, size)
            const full = (): Promise<Buffer | null> => read(tilePath(tile), TILE_BYTES)
            const found =
              width === TILE_WIDTH ? await full() : ((await read(tilePath(tile, width), TILE_BYTES)) ?? (await full()))
            return found ?? new Uint8Array(0)
          }),
        )

    const look = async (): Promise<'fine' | 'refused'> => {
      const offered = (await read('checkpoint', HEAD_MAX_BYTES))?.toString('utf8')
      if (offered === undefined) throw new CommandFailedError('the log has no checkpoint there')
      const before = await readIfThere(cosigned)
      const judgement = await judgeHead(before, offered, logKey, tilesOf)
      if (judgement.kind === 'refused') {
        output.stderr(`refused: ${judgement.reason}\n`)
        if (judgement.evidence && before !== null) {
          const evidence = join(folder, `evidence-${unixSeconds()}`)
          await writePrivateFile(evidence, `${before}\n${offered}`)
          output.stderr(`both heads, as the log signed them, are in ${evidence}\n`)
        }
        return 'refused'
      }
      // Also where nothing is new: the time says that the log was looked at.
      await writePrivateFile(cosigned, cosign(offered, unixSeconds(), witness))
      if (judgement.kind === 'continued') output.stdout(`cosigned ${judgement.head.size} lines\n`)
      return 'fine'
    }

    for (;;) {
      try {
        if ((await look()) === 'refused') return 1
      } catch (error) {
        // A log that is away for now is no offence.
        const reason = error instanceof Error ? error.message : String(error)
        if (command.flag('once')) throw new CommandFailedError(reason)
        output.stderr(`the log could not be looked at: ${reason}\n`)
      }
      if (command.flag('once') || signal.aborted) return 0
      await sleep(intervalSeconds * 1_000, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return 0
    }
  })
