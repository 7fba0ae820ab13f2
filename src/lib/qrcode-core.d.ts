// The qrcode package's own types cover only its renderers.
declare module 'qrcode/lib/core/qrcode.js' {
  export interface QrMatrix {
    readonly modules: {
      readonly size: number
      /** Row by row; 1 is dark. */
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
