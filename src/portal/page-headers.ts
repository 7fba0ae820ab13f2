// Headers of the verification page in addition to those of every answer: browsers run and load only what this host
// serves. Source: threats rows 2, 17 and 23; CSP Level 3.
import { PAGE_HEADERS } from '../server/security-headers.ts'

/** Features that the page never uses, and the camera, which it asks for itself. */
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
 * Allows the scripts that carry the response's nonce, and what these load. Browsers that do not know `strict-dynamic`
 * allow this host instead. Data URIs are for the icons of wallets, blobs for photographs before they are sent.
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

/** The headers of every page. */
export const pageHeaders = (nonce: string): Record<string, string> => ({
  ...PAGE_HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy(nonce),
  'permissions-policy': PERMISSIONS,
  // Wallets open windows that must be able to answer this page.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
})
