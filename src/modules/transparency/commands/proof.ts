// `countersign proof check|key`: verifies a proof with only the log's key, and prints that key.

import { readFileSync } from 'node:fs'
import { checkDecisionProof, ProofInvalidError } from '../../../client/decision-proof.ts'
import { ArgumentInvalidError } from '../../../client/errors.ts'
import { type Command, type CommandContext, text } from '../../../command-line/command.ts'
import { shown } from '../../../command-line/decisions-commands.ts'
import { readText } from '../../../command-line/option-values.ts'
import { CommandFailedError, print, UsageError } from '../../../command-line/output.ts'
import { readLogKey } from '../service/log-key.ts'
import { encodeVerifierKey } from '../tree/note.ts'

/** @param given verifier key, or a file that contains it @throws UsageError */
export const readLogKeyOption = (given: string, option: string): string => {
  if (given.includes('+')) return given.trim()
  try {
    return readFileSync(given, 'utf8').trim()
  } catch {
    throw new UsageError(`--${option} must be a verifier key or a readable file`)
  }
}

const check = ({ command, output: { stdout } }: CommandContext): number => {
  const [path = ''] = command.words
  const json = command.flag('json')
  try {
    const proven = checkDecisionProof(readText(path), readLogKeyOption(command.required('key'), 'key'))
    const { decision, index, size } = proven
    if (json) stdout(`${JSON.stringify({ ok: true, index, size, decision })}\n`)
    else {
      const text = (field: string): string => shown(String(decision[field] ?? ''))
      stdout(`${text('uuid')} is line ${index + 1} of ${size} in the log: the proof is valid\n`)
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
    // Exit code 1 means an invalid proof, so other errors are usage errors.
    if (error instanceof ArgumentInvalidError || error instanceof CommandFailedError)
      throw new UsageError(error.message)
    if (!(error instanceof ProofInvalidError)) throw error
    if (json) stdout(`${JSON.stringify({ ok: false, problem: error.message })}\n`)
    else stdout(`PROBLEM: ${error.message}\n`)
    return 1
  }
}

const showKey = async (context: CommandContext): Promise<number> => {
  const { deployment } = context
  const logKey = await deployment.withStore((store) => readLogKey(store.deployment, deployment.folder))
  if (logKey === null) throw new CommandFailedError('no log key exists yet: start the service once')
  const key = encodeVerifierKey(logKey.key)
  print(context, { log_key: key }, `${key}\n`)
  return 0
}

export const PROOF_COMMANDS: readonly Command[] = [
  {
    noun: 'proof',
    verb: 'check',
    summary: 'Verify offline that a decision is in the log, and print it',
    words: [{ name: 'FILE', help: 'Proof file; - for standard input' }],
    options: [
      text('key', 'KEY', 'Verifier key of the log, <name>+<8 hex digits>+<base64>, or a file that contains it', {
        required: true,
      }),
    ],
    isLocal: true,
    run: check,
  },
  {
    noun: 'proof',
    verb: 'key',
    summary: 'Print the verifier key of this deployment’s log',
    isLocal: true,
    run: showKey,
  },
]
