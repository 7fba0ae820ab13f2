// Decodes a picture from stdin and prints JSON. Exit code 3: it could not be decoded.
import sharp from 'sharp'
import { readPicture, type ZoneReading } from '../../../zone-reader/picture/read-zone.ts'
import { HASHED_SIDE, portraitHash } from '../portrait-hash.ts'

export type PictureAnswer = { readonly reading: ZoneReading } | { readonly hash: string }

const REFUSED = 3
const PIXELS_MAX = 40_000_000

sharp.cache(false)
sharp.concurrency(1)
// Loads only JPEG, because the service stores every picture as a JPEG that it encoded itself.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer'] })

const open = (input: Uint8Array) => sharp(input, { limitInputPixels: PIXELS_MAX, failOn: 'error' })

const zone = async (input: Uint8Array): Promise<ZoneReading> => {
  const { width, height } = await open(input).metadata()
  const scaledTo = async (side: number) => {
    const { data, info } = await open(input)
      .resize({ width: side, height: side, fit: 'inside' })
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, pixels: data }
  }
  return await readPicture(Math.max(width, height), scaledTo, Math.floor(Date.now() / 1000))
}

const hash = async (input: Uint8Array): Promise<string> => {
  const size = { width: HASHED_SIDE, height: HASHED_SIDE, fit: 'fill' } as const
  return portraitHash(await open(input).resize(size).greyscale().raw().toBuffer())
}

try {
  const input = await Bun.stdin.bytes()
  const answer: PictureAnswer =
    process.argv.at(-1) === 'portrait' ? { hash: await hash(input) } : { reading: await zone(input) }
  await Bun.write(Bun.stdout, JSON.stringify(answer))
} catch {
  // Reports only the exit code, because the decoder's message may contain parts of the file.
  process.exitCode = REFUSED
}
