// Downscales photographs before upload, which also removes their location. Loaded with the first image.

/** Longest side in pixels; small print stays legible. */
const SIDE_MAX = 2_600
const QUALITY = 0.86
const SMALL_BYTES = 1_500_000

const PICTURES = new Set(['image/jpeg', 'image/png', 'image/webp'])

const draw = async (bitmap: ImageBitmap): Promise<Blob | null> => {
  const scale = Math.min(1, SIDE_MAX / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d')
  if (context === null) return null
  // Otherwise, transparent parts of a PNG turn black.
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY))
}

/** Returns the file itself if it is small, isn't an image, or can't be opened. */
export const prepareImage = async (file: Blob): Promise<Blob> => {
  if (!PICTURES.has(file.type) || file.size <= SMALL_BYTES) return file
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' })
    const smaller = await draw(bitmap)
    bitmap.close()
    return smaller !== null && smaller.size < file.size ? smaller : file
  } catch {
    // The server will report the problem.
    return file
  }
}
