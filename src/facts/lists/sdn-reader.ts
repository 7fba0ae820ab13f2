// Digital currency addresses in the US Treasury's sdn_advanced.xml: VersionDetail texts of features whose type is named
// `Digital Currency Address - ` plus the asset. Source: OFAC, "Sanctions List Service, Advanced XML".
import { parseAnyAddress } from '../../domain/address-key.ts'
import { MEMO_LENGTH_MAX } from '../../domain/list.ts'
import { createXmlScanner, XmlInvalidError, type XmlListener } from '../../lib/xml-scanner.ts'

const FEATURE_TYPE_PREFIX = 'Digital Currency Address - '
const ADDRESS_LENGTH_MAX = 256

export interface SdnReaderOptions {
  /** The memo names the asset and the party: `ETH, SDN 12345`. */
  readonly onEntry: (canonicalAddress: string, memo: string) => void
  readonly onSkipped: (asset: string) => void
}

export const createSdnReader = ({ onEntry, onSkipped }: SdnReaderOptions) => {
  const assets = new Map<string, string>()
  let isSanctions = false
  let party = ''
  let featureTypeId: string | null = null
  let asset: string | null = null
  let text: string | null = null

  const takeAddress = (address: string, ofAsset: string): void => {
    // Details that refer to a value have no text.
    if (address === '') return
    const canonical = address.length > ADDRESS_LENGTH_MAX ? null : parseAnyAddress(address)
    if (canonical === null) onSkipped(ofAsset)
    else onEntry(canonical, `${ofAsset}, SDN ${party}`.slice(0, MEMO_LENGTH_MAX))
  }

  const listener: XmlListener = {
    open: (name, attribute) => {
      text = null
      if (name === 'Sanctions') isSanctions = true
      else if (name === 'FeatureType') {
        featureTypeId = attribute('ID')
        text = ''
      } else if (name === 'DistinctParty') party = attribute('FixedRef') ?? ''
      else if (name === 'Feature') asset = assets.get(attribute('FeatureTypeID') ?? '') ?? null
      else if (name === 'VersionDetail' && asset !== null) text = ''
    },
    text: (piece) => {
      if (text !== null && text.length <= ADDRESS_LENGTH_MAX) text += piece
    },
    close: (name) => {
      const content = text?.trim() ?? ''
      text = null
      if (name === 'FeatureType' && featureTypeId !== null && content.startsWith(FEATURE_TYPE_PREFIX)) {
        assets.set(featureTypeId, content.slice(FEATURE_TYPE_PREFIX.length))
      } else if (name === 'VersionDetail' && asset !== null) takeAddress(content, asset)
      else if (name === 'Feature') asset = null
    },
  }

  const scanner = createXmlScanner(listener)
  return {
    write: scanner.write,
    /** @throws XmlInvalidError, also without any digital currency address: it must be another file */
    end: () => {
      scanner.end()
      if (!isSanctions || assets.size === 0) throw new XmlInvalidError('the file has no digital currency addresses')
    },
  }
}
