// A process that reads one image from standard input and writes it as a new JPEG to standard output, without metadata.
// reencode.ts starts it with an empty environment. Exit codes: 0 written, 3 not a readable image.
import sharp from 'sharp'
import { IMAGE_PIXELS_MAX } from '../evidence-types.ts'

/** Text on a document stays sharp; a 12-megapixel image takes 3 to 5 MB. */
const QUALITY = 90
const REFUSED = 3

sharp.cache(false)
sharp.concurrency(1)
// The library has dozens of loaders; allow only the loaders of the three accepted types.
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
  // The decoder's message may contain bytes of the file, so only the exit code reports the failure.
  process.exitCode = REFUSED
}
