// What browsers are told about the verification page: run and load only what this host serves, be framed by nobody, tell
// nobody where the person comes from. Source: threats rows 2, 17 and 23; CSP Level 3.

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
 * Scripts run by the nonce of the one response that names them, and what they load themselves. Browsers that do not know
 * `strict-dynamic` fall back to this host. Wallets announce themselves with pictures in data URIs; photographs are shown
 * from blobs before they are sent.
 */
export const contentSecurityPolicy = (nonce: string): string =>
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

/** For every page, whatever it says. @param secure it is served over https */
export const pageHeaders = (nonce: string, secure: boolean): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy(nonce),
  'permissions-policy': PERMISSIONS,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'cross-origin-resource-policy': 'same-origin',
  ...(secure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
})
