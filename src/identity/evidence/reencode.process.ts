// Re-encodes an image from standard input as a JPEG without metadata (reencode.ts). Exits with 3 if it isn't readable.
import sharp from 'sharp'
import { IMAGE_PIXELS_MAX } from '../evidence-types.ts'

/** JPEG quality that keeps text on documents sharp; a 12-megapixel image takes 3 to 5 MB. */
const QUALITY = 90
const REFUSED = 3

sharp.cache(false)
sharp.concurrency(1)
// Allows only the loaders of the accepted types; the library has dozens.
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
  // The decoder's message may contain bytes from the file, so only the exit code reports the failure.
  process.exitCode = REFUSED
}
