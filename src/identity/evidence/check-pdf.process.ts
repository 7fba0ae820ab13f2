// A process that checks one PDF from standard input, and writes ACCEPTED or the refusal reason to standard output.
// Started by check-pdf.ts with an empty environment.
import { DocumentInvalidError } from './errors.ts'
import { ACCEPTED, checkPdf } from './pdf-check.ts'

try {
  await checkPdf(await Bun.stdin.bytes())
  await Bun.write(Bun.stdout, ACCEPTED)
} catch (error) {
  if (!(error instanceof DocumentInvalidError)) throw error
  await Bun.write(Bun.stdout, error.detail)
}
