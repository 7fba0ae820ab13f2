// The part of the qrcode package that makes the matrix; its own types cover the renderers, which are not used.
declare module 'qrcode/lib/core/qrcode.js' {
  export interface QrMatrix {
    readonly modules: {
      /** Modules a side. */
      readonly size: number
      /** Row by row: 1 is dark. */
      readonly data: Uint8Array
    }
    readonly maskPattern: number
    readonly version: number
  }
  export function create(
    segments: readonly { readonly data: Uint8Array; readonly mode: 'byte' }[],
    options: {
      readonly errorCorrectionLevel: 'L' | 'M' | 'Q' | 'H'
      readonly version?: number
      readonly maskPattern?: number
    },
  ): QrMatrix
}
