// Re-encodes uploaded images in a process that can be killed.
import { createDocumentProcess, type DocumentProcess, type DocumentProcessOptions } from './document-process.ts'

export type ReencoderOptions = Partial<DocumentProcessOptions>

export interface Reencoder extends Omit<DocumentProcess, 'run'> {
  readonly reencode: DocumentProcess['run']
}

const SCRIPT = 'src/identity/evidence/reencode.process.ts'

export const createReencoder = (options: ReencoderOptions = {}): Reencoder => {
  const { run, running, close } = createDocumentProcess({ script: SCRIPT, ...options })
  return { reencode: run, running, close }
}
