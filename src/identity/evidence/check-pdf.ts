// Checks uploaded PDFs in a process that can be killed, because a hostile PDF can take seconds.
import { createDocumentProcess, type DocumentProcess, type DocumentProcessOptions } from './document-process.ts'
import { DocumentInvalidError } from './errors.ts'
import { ACCEPTED, PDF_REFUSALS } from './pdf-check.ts'

export interface PdfChecker extends Omit<DocumentProcess, 'run'> {
  check(pdf: Uint8Array, organizationId: string): Promise<void>
}

const SCRIPT = 'src/identity/evidence/check-pdf.process.ts'
const ANSWER_BYTES_MAX = 1_024

export const createPdfChecker = (options: Partial<DocumentProcessOptions> = {}): PdfChecker => {
  const { run, running, close } = createDocumentProcess({
    script: SCRIPT,
    noun: 'PDF',
    outputBytesMax: ANSWER_BYTES_MAX,
    ...options,
  })
  return {
    check: async (pdf, organizationId) => {
      const answer = Buffer.from(await run(pdf, organizationId)).toString()
      if (answer === ACCEPTED) return
      throw new DocumentInvalidError(PDF_REFUSALS.has(answer) ? answer : 'could not open the PDF')
    },
    running,
    close,
  }
}
