// Re-encodes uploaded pictures in a process that may be killed: see reencode.process.ts.
import { createPictureProcess, type PictureProcess, type PictureProcessOptions } from './picture-process.ts'

/** Another program in tests. */
export type ReencoderOptions = Partial<PictureProcessOptions>

export interface Reencoder extends Omit<PictureProcess, 'run'> {
  /** The picture as a JPEG. @throws DocumentInvalidError, EvidenceBusyError */
  readonly reencode: PictureProcess['run']
}

const SCRIPT = 'src/identity/evidence/reencode.process.ts'

export const createReencoder = (options: ReencoderOptions = {}): Reencoder => {
  const { run, running, close } = createPictureProcess({ script: SCRIPT, ...options })
  return { reencode: run, running, close }
}
