// QR code as a single path, dark on light in every theme because scanners require it.
import { create } from 'qrcode/lib/core/qrcode.js'

const QUIET = 4

export const QrCode = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { modules } = create([{ data: new TextEncoder().encode(text), mode: 'byte' }], { errorCorrectionLevel: 'M' })
  const size = modules.size + 2 * QUIET
  const path = Array.from(modules.data, (dark, index) =>
    dark ? `M${(index % modules.size) + QUIET} ${Math.floor(index / modules.size) + QUIET}h1v1h-1z` : '',
  ).join('')
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
