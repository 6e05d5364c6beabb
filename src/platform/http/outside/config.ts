import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import { networkFault } from '#src/platform/security/keys/networks.ts'
import { isAllowEntry } from './target.ts'

/** A host name, an address, or a network in CIDR notation. */
export const allowEntry = kind.value('host name, address or network in CIDR notation', (given) => {
  const entry = given.toLowerCase()
  if (!isAllowEntry(entry)) throw new Error(`is no host name and ${networkFault(entry)}`)
  return entry
})

/** How documents are read whose address came from outside: payloads of QR codes, key sets. */
export const outsideSettings = defineSettings({
  allowedTargets: setting('TRILHO_FETCH_ALLOWED_TARGETS', kind.list(allowEntry), {
    doc: 'Private hosts and networks that payloads of QR codes and key sets may be read from, over HTTP and any port too. All others must be public, HTTPS and on port 443.',
  }),
  ca: setting('TRILHO_FETCH_CA_PATH', kind.pem(), {
    doc: 'Authorities of those servers besides the public ones.',
  }),
  timeoutSeconds: setting('TRILHO_FETCH_TIMEOUT', kind.integer(1, 60), {
    default: '10',
    doc: 'Seconds for one such document, from the look-up of its name to its last byte.',
  }),
})

export type OutsideSettings = SettingValues<typeof outsideSettings>
