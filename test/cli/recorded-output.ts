// Recorder of a command's output.
import type { CommandOutput } from '../../src/command-line/output.ts'

export const recordOutput = () => {
  const printed = { stdout: '', stderr: '' }
  const output: CommandOutput = {
    stdout: (text) => {
      printed.stdout += text
    },
    stderr: (text) => {
      printed.stderr += text
    },
  }
  return { output, printed }
}
