// A process that checks one PDF from standard input, and writes ACCEPTED or the reason for rejection to standard
// output. check-pdf.ts starts it with an empty environment.
import { DocumentInvalidError } from './errors.ts'
import { ACCEPTED, checkPdf } from './pdf-check.ts'

try {
  await checkPdf(await Bun.stdin.bytes())
  await Bun.write(Bun.stdout, ACCEPTED)
} catch (error) {
  if (!(error instanceof DocumentInvalidError)) throw error
  await Bun.write(Bun.stdout, error.detail)
}
