// `countersign proof check|key`: checks the proof of a decision, for which the log's key is enough, and prints that key.
import { readFileSync } from 'node:fs'
import { checkDecisionProof, ProofInvalidError } from '../../client/decision-proof.ts'
import { ArgumentInvalidError } from '../../client/errors.ts'
import type { LogKey } from '../../modules/transparency/service/log-key.ts'
import { encodeVerifierKey } from '../../modules/transparency/tree/note.ts'
import { PROGRAM } from '../../program/labels.ts'
import { readLogKeyOption } from '../log-key-option.ts'
import { CommandFailedError, type CommandOutput, parseCommand, print, UsageError } from '../output.ts'
import { runToExitCode } from '../print-error.ts'
import { shown } from './decisions-report.ts'

const USAGE = `Usage: ${PROGRAM} proof check FILE --key KEY [--json]
       ${PROGRAM} proof key [--json]

check  Checks offline that the decision in FILE is in the log with this key, and prints what was decided. KEY is a verifier
       key, <name>+<8 hex digits>+<base64>, or a file that holds one. FILE may be - for standard input.
key    Prints the key of this deployment's log, to be given to whoever will check proofs.

Exit code: 0 when the proof holds, 1 when it does not, 2 when the command can't be understood or FILE can't be read.
`

export interface ProofContext {
  readonly output: CommandOutput
  /** Reads this deployment's log key; null before the first start. */
  readonly readKey: () => Promise<LogKey | null>
}

const readText = (path: string): string => {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw new UsageError(`${path} can't be read`)
  }
}

const check = (path: string, key: string, json: boolean, { stdout }: CommandOutput): number => {
  try {
    const proven = checkDecisionProof(readText(path), readLogKeyOption(key, 'key'))
    const { decision, index, size } = proven
    if (json) stdout(`${JSON.stringify({ ok: true, index, size, decision })}\n`)
    else {
      const text = (field: string): string => shown(String(decision[field] ?? ''))
      stdout(`${text('uuid')} is line ${index + 1} of ${size} in the log: the proof holds\n`)
      stdout(
        `${decision['compliant'] === true ? 'compliant' : 'denied'} by ${text('policy_name')}, from ${text('from')}`,
      )
      stdout(` to ${text('to')} on ${text('chain')}, at ${new Date(Number(decision['at'])).toISOString()}\n`)
      const signatures = decision['signatures']
      for (const signature of Array.isArray(signatures) ? signatures : []) {
        stdout(`signature ${shown(String(signature))}\n`)
      }
    }
    return 0
  } catch (error) {
    if (error instanceof ArgumentInvalidError) throw new UsageError(error.message)
    if (!(error instanceof ProofInvalidError)) throw error
    if (json) stdout(`${JSON.stringify({ ok: false, problem: error.message })}\n`)
    else stdout(`PROBLEM: ${error.message}\n`)
    return 1
  }
}

/** Returns the exit code. */
export const runProof = (commandArguments: readonly string[], { output, readKey }: ProofContext): Promise<number> =>
  runToExitCode(output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, {
      key: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const [verb, path, ...more] = command.positionals
    if (verb === 'check' && path !== undefined && more.length === 0) {
      return check(path, command.required('key'), command.flag('json'), output)
    }
    if (verb !== 'key' || path !== undefined) throw new UsageError('expected: check FILE --key KEY, or key')
    const logKey = await readKey()
    if (logKey === null) throw new CommandFailedError('there is no log key yet: start the service once')
    const key = encodeVerifierKey(logKey.key)
    print({ output, command }, { log_key: key }, `${key}\n`)
    return 0
  })
