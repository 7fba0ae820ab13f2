// Checks a PDF from standard input; writes ACCEPTED or the reason for rejection to standard output (check-pdf.ts).
import { DocumentInvalidError } from './errors.ts'
import { ACCEPTED, checkPdf } from './pdf-check.ts'

try {
  await checkPdf(await Bun.stdin.bytes())
  await Bun.write(Bun.stdout, ACCEPTED)
} catch (error) {
  if (!(error instanceof DocumentInvalidError)) throw error
  await Bun.write(Bun.stdout, error.detail)
}
