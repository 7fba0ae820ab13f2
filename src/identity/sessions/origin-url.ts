// Parses `originUrl`, to which the verification page links back (decisions §5).
import { FieldInvalidError } from '../../domain/errors.ts'
import { HTTPS_LINK_MAX, parseHttpsLink } from '../../lib/https-link.ts'

/** Returns the normalized URL. @throws FieldInvalidError */
export const decodeOriginUrl = (text: string): string => {
  const url = parseHttpsLink(text)
  if (url !== null) return url
  throw new FieldInvalidError(
    'originUrl',
    `must be an absolute https URL without credentials, of at most ${HTTPS_LINK_MAX} characters`,
  )
}
