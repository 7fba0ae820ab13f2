// A process that checks one PDF from its standard input, and writes ACCEPTED or the reason of the refusal to its standard
// output. Started by check-pdf.ts, with nothing in its environment.
import { DocumentInvalidError } from './errors.ts'
import { ACCEPTED, checkPdf } from './pdf-check.ts'

try {
  await checkPdf(await Bun.stdin.bytes())
  await Bun.write(Bun.stdout, ACCEPTED)
} catch (error) {
  if (!(error instanceof DocumentInvalidError)) throw error
  await Bun.write(Bun.stdout, error.detail)
}
