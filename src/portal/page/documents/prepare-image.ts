// Makes a photograph small enough to send: phones take pictures many times larger than needed to read a document. The
// new picture also lacks the place where the photograph was taken. Loaded when the first picture is chosen.

/** Longest side in pixels: small print on a page stays readable. */
const SIDE_MAX = 2_600
const QUALITY = 0.86
/** Smaller files are sent as they are. */
const SMALL_BYTES = 1_500_000

const PICTURES = new Set(['image/jpeg', 'image/png', 'image/webp'])

const draw = async (bitmap: ImageBitmap): Promise<Blob | null> => {
  const scale = Math.min(1, SIDE_MAX / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d')
  if (context === null) return null
  // Transparent parts of a PNG would turn black.
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY))
}

/** The picture to send; the file itself when it is small, is no picture, or can't be opened here. */
export const prepareImage = async (file: Blob): Promise<Blob> => {
  if (!PICTURES.has(file.type) || file.size <= SMALL_BYTES) return file
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' })
    const smaller = await draw(bitmap)
    bitmap.close()
    return smaller !== null && smaller.size < file.size ? smaller : file
  } catch {
    // The server reports the problem with the file.
    return file
  }
}
