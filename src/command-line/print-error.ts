// Prints a failed command's error, as JSON with --json, and selects the exit code.
import { SecondPersonNeededError } from '../admin/errors.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { CountersignError } from '../domain/errors.ts'
import { explainFileProblem } from '../lib/file-problem.ts'
import { PolicyInvalidError } from '../policy/issues.ts'
import { StoreUnreachableError, StoreUnusableError } from '../store/errors.ts'
import { CommandFailedError, type CommandOutput, UsageError, usageOf } from './output.ts'
import { NEEDS_SECOND_PERSON, REFUSAL } from './second-person.ts'

interface Explained {
  readonly exit: number
  readonly code: string
  readonly detail: string
}

const explain = (error: unknown): Explained => {
  if (error instanceof SecondPersonNeededError) {
    return { exit: NEEDS_SECOND_PERSON, code: 'APPROVAL_REQUIRED', detail: REFUSAL.trimEnd() }
  }
  if (error instanceof SettingInvalidError || error instanceof UsageError) {
    return { exit: 2, code: 'INVALID_REQUEST', detail: error.message }
  }
  if (error instanceof CommandFailedError) return { exit: 1, code: error.code, detail: error.message }
  if (error instanceof PolicyInvalidError) return { exit: 1, code: error.code, detail: error.message }
  const fileProblem = explainFileProblem(error)
  if (fileProblem !== null) return { exit: 1, code: 'FAILED', detail: fileProblem }
  if (error instanceof StoreUnreachableError) return { exit: 1, code: error.code, detail: error.reason }
  if (error instanceof StoreUnusableError) return { exit: 1, code: 'FAILED', detail: error.detail }
  if (error instanceof CountersignError) return { exit: 1, code: error.code, detail: error.detail }
  throw error
}

/** Returns the exit code. @param usage printed after the error, except with --json @throws internal errors */
export const printError = (output: CommandOutput, json: boolean, error: unknown, usage = ''): number => {
  const { exit, code, detail } = explain(error)
  output.stderr(json ? `${JSON.stringify({ code, detail })}\n` : `${detail}\n${usage}`)
  return exit
}

/** Returns the exit code. @param help only its usage lines are printed after an invalid call */
export const runToExitCode = async (
  output: CommandOutput,
  help: string,
  commandArguments: readonly string[],
  body: () => Promise<number> | number,
): Promise<number> => {
  try {
    return await body()
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof CommandFailedError)) throw error
    const usage = error instanceof UsageError ? usageOf(help, commandArguments) : ''
    return printError(output, commandArguments.includes('--json'), error, usage)
  }
}
