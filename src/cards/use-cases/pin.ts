import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { isClearPinBlock } from '#src/platform/security/index.ts'
import type { Secrets } from '../content/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import { SecurityModuleError } from '../security/index.ts'
import { notCarried } from './carrying.ts'

/** An encrypted PIN block as it came. */
export type GivenPin = {
  /** The name of the key that it is under. */
  readonly key: string
  /** Hexadecimal digits. */
  readonly block: string
}

type Given = { readonly secrets: Secrets | undefined; readonly pin: GivenPin | undefined }

/**
 * What goes into the message and nowhere else, with the PIN block under the network's key.
 *
 * @throws ApiError `field_not_carried`, `value_refused`, `network_unavailable`
 */
export const withPin = async (
  { secrets, pin }: Given,
  { keys }: Network,
  pan: Uint8Array,
): Promise<Secrets | undefined> => {
  if (pin === undefined) return secrets
  const isKnown = keys?.hasPinSource(pin.key)
  if (keys === undefined || isKnown === undefined) throw notCarried('pin')
  if (!isKnown) throw refused('pin.key is none of the keys of the card network.')
  const block = Uint8Array.fromHex(pin.block)
  try {
    if (isClearPinBlock(block, pan)) throw refused('pin.block is not encrypted.')
    const translated = await keys.translatePin(block, pin.key, pan)
    return { ...secrets, pinBlock: translated.toHex().toUpperCase() }
  } catch (cause) {
    if (!(cause instanceof SecurityModuleError)) throw cause
    if (cause.fault === 'refused' && blockFaults.has(cause.code ?? '')) {
      throw refused('pin.block holds no PIN of this card under pin.key.')
    }
    throw new ApiError(cardErrors.network_unavailable, 'The PIN block could not be translated.', {
      details: { field: null, value: null, sent: false, reason: 'security_module' },
      cause,
    })
  } finally {
    block.fill(0)
  }
}

/** What a module says of a block: no PIN in it, of another format, of a wrong length. */
const blockFaults: ReadonlySet<string> = new Set(['PIN block', '20', '23', '24'])

const refused = (message: string): ApiError =>
  new ApiError(httpErrors.value_refused, message, { details: { field: 'pin', value: null } })
