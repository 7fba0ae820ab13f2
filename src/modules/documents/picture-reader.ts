import { createDocumentProcess } from '../../identity/evidence/document-process.ts'
import type { PictureAnswer } from './worker/read-picture.process.ts'

/** Ten times the duration on an idle CPU. */
const PICTURE_TIME_LIMIT_MS = 10_000
const ANSWER_BYTES_MAX = 65_536
const PICTURE_SCRIPT = 'src/modules/documents/worker/read-picture.process.ts'

/** Reads one picture at a time, each in a new process with a time limit. Exiting frees its memory. */
export const createPictureReader = (what: 'zone' | 'portrait') => {
  const { run, close } = createDocumentProcess({
    script: PICTURE_SCRIPT,
    programArguments: [what],
    processesMax: 1,
    timeLimitMs: PICTURE_TIME_LIMIT_MS,
    outputBytesMax: ANSWER_BYTES_MAX,
  })
  return {
    close,
    read: async (picture: Uint8Array): Promise<PictureAnswer> =>
      JSON.parse(Buffer.from(await run(picture, '')).toString()),
  }
}
