// Additional headers of the verification page: browsers run and load only content of this host. Source: threats rows 2,
// 17 and 23; CSP Level 3.
import { PAGE_HEADERS } from '../server/security-headers.ts'

/** Features that the page never uses, and the camera, for which it requests permission. */
const PERMISSIONS = [
  'camera=(self)',
  ...['accelerometer', 'autoplay', 'display-capture', 'encrypted-media', 'fullscreen', 'geolocation', 'gyroscope'].map(
    (feature) => `${feature}=()`,
  ),
  ...['magnetometer', 'microphone', 'midi', 'payment', 'picture-in-picture', 'screen-wake-lock'].map(
    (feature) => `${feature}=()`,
  ),
].join(', ')

/**
 * Allows scripts with the response's nonce and the scripts that they load. Browsers without support for
 * `strict-dynamic` allow this host instead. Data URIs are for wallet icons, blobs for photographs before upload.
 */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic' 'self'`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "frame-src 'none'",
  ].join('; ')

export const pageHeaders = (nonce: string): Record<string, string> => ({
  ...PAGE_HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy(nonce),
  'permissions-policy': PERMISSIONS,
  // Wallets open windows that must be able to communicate with this page.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
})
