// Re-encodes uploaded pictures in a process that may be killed: see reencode.process.ts.
import { createDocumentProcess, type DocumentProcess, type DocumentProcessOptions } from './document-process.ts'

/** Another program in tests. */
export type ReencoderOptions = Partial<DocumentProcessOptions>

export interface Reencoder extends Omit<DocumentProcess, 'run'> {
  /** The picture as a JPEG. @throws DocumentInvalidError, EvidenceBusyError */
  readonly reencode: DocumentProcess['run']
}

const SCRIPT = 'src/identity/evidence/reencode.process.ts'

export const createReencoder = (options: ReencoderOptions = {}): Reencoder => {
  const { run, running, close } = createDocumentProcess({ script: SCRIPT, ...options })
  return { reencode: run, running, close }
}
