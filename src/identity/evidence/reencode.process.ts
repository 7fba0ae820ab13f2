// A process that reads one picture from its standard input and writes it as a new JPEG to its standard output. Metadata,
// locations and other files in the picture are left out, and if the decoder crashes, only this process ends.
// Started by reencode.ts, with nothing in its environment. Exit codes: 0 written, 3 not a picture that can be opened.
import sharp from 'sharp'
import { IMAGE_PIXELS_MAX } from '../evidence-types.ts'

/** Text on a paper stays sharp; a picture of 12 megapixels has 3 to 5 MB. */
const QUALITY = 90
const REFUSED = 3

sharp.cache(false)
sharp.concurrency(1)
// The library has dozens of loaders: allow only those of the three accepted types.
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
  // The decoder's message may hold bytes of the file, so only the exit code reports the failure.
  process.exitCode = REFUSED
}
