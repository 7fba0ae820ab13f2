// A process of its own that reads one picture on its standard input and writes it anew, as a JPEG, on its standard output:
// what else the file carried (metadata, places, other files) is not in the new one, and a decoder that breaks breaks here.
// Started by reencode.ts, with nothing in its environment. Exit codes: 0 written, 3 not a picture that can be opened.
import sharp from 'sharp'
import { IMAGE_PIXELS_MAX } from '../evidence-types.ts'

/** Text on a paper stays sharp; a picture of 12 megapixels has 3 to 5 MB. */
const QUALITY = 90
const REFUSED = 3

sharp.cache(false)
sharp.concurrency(1)
// Dozens of loaders are built in; the three that were asked for are all that may be reached.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'] })

const input = await Bun.stdin.bytes()
try {
  const output = await sharp(input, { limitInputPixels: IMAGE_PIXELS_MAX, sequentialRead: true, failOn: 'error' })
    .autoOrient()
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .jpeg({ quality: QUALITY })
    .toBuffer()
  await Bun.write(Bun.stdout, output)
} catch {
  // What the decoder says may hold some of the file. That it could not is all there is to say.
  process.exitCode = REFUSED
}
