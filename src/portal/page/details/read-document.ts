// Reads the machine-readable zone of an image on the device. Loaded with the first image, because the reader is large.
import { readPicture } from '../../../zone-reader/picture/read-zone.ts'
import type { Draft } from './draft.ts'

const grayOf = (bitmap: ImageBitmap, side: number) => {
  const scale = side / Math.max(bitmap.width, bitmap.height)
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) throw new Error('could not get a canvas context')
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
  const pixels = new Uint8Array(canvas.width * canvas.height)
  // Luma weights of Rec. 709.
  for (let at = 0; at < pixels.length; at++) {
    pixels[at] = 0.2126 * data[at * 4]! + 0.7152 * data[at * 4 + 1]! + 0.0722 * data[at * 4 + 2]!
  }
  return { width: canvas.width, height: canvas.height, pixels }
}

const inWords = (name: string): string => name.toLowerCase().replace(/(^| )[a-z]/g, (letters) => letters.toUpperCase())

/** Returns the fields for the person to correct; null if the zone can't be read. */
export const readDocument = async (file: Blob): Promise<Partial<Draft> | null> => {
  const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' })
  try {
    const longestSide = Math.max(bitmap.width, bitmap.height)
    const scaledTo = (side: number) => grayOf(bitmap, side)
    const reading = await readPicture(longestSide, scaledTo, Math.floor(Date.now() / 1000))
    if (reading.kind !== 'read') return null
    const { givenNames, surname, birthDate } = reading.decoded.zone
    const [year = '', month = '', day = ''] = (birthDate ?? '').split('-')
    return {
      fullName: inWords(`${givenNames} ${surname}`.trim()),
      ...(birthDate === null ? {} : { year, month: String(Number(month)), day: String(Number(day)) }),
    }
  } finally {
    bitmap.close()
  }
}
