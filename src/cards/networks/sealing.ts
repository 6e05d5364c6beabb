import {
  type CardMessage,
  createFieldGetter,
  createFieldSetter,
  createMessagePacker,
  createPacker,
  type Dialect,
  macFieldOf,
} from '#codecs/iso8583'
import { macBytes } from '#src/platform/security/index.ts'
import type { FieldReader, LinkKeys } from '../security/index.ts'

/**
 * Packs messages with a code at their end. The code is over all bytes before it, with its own bit in the bitmap.
 *
 * @param bytesMax of a message
 * @param checked the fields whose characters are checked; all when not given
 */
export const createSealer = (dialect: Dialect, bytesMax: number, checked?: ReadonlySet<number>) => {
  const packer = createPacker(dialect, checked)
  const pack = createMessagePacker(packer)
  const setters = { 64: createFieldSetter(64), 128: createFieldSetter(128) }
  const scratch = new Uint8Array(bytesMax)
  return {
    /**
     * A message as it will be, but for its code. The caller wipes it.
     *
     * @throws CodecError
     */
    packed: (message: CardMessage): UnsealedBytes => {
      const field = macFieldOf(message)
      setters[field](message, new Uint8Array(macBytes))
      const end = pack(message, scratch)
      const bytes = scratch.slice(0, end)
      scratch.fill(0, 0, end)
      const isHex = dialect.fields[field]?.encoding === 'hex'
      return { bytes, field, codeAt: end - (isHex ? macBytes * 2 : macBytes) }
    },
    /** Computes the code and puts it in its place. @throws SecurityModuleError */
    seal: async (
      { bytes, field, codeAt }: UnsealedBytes,
      keys: Pick<LinkKeys, 'seal'>,
    ): Promise<void> => {
      const code = await keys.seal(bytes.subarray(0, codeAt))
      packer.put(field, code, bytes, codeAt)
    },
  }
}

export type Sealer = ReturnType<typeof createSealer>

/** A packed message whose code is zeros. */
export type UnsealedBytes = {
  readonly bytes: Uint8Array
  readonly field: 64 | 128
  readonly codeAt: number
}

/** @throws Error for a dialect whose messages can have no code */
export const requireMacFields = ({ name, fields }: Dialect): void => {
  for (const de of [64, 128]) {
    const { type, max, prefixDigits } = fields[de] ?? {}
    if (type !== 'b' || max !== macBytes || prefixDigits !== 0) {
      throw new Error(`dialect ${name}: field ${de} is no code of ${macBytes} bytes`)
    }
  }
}

/** The fields of a message as text; of bytes, their hexadecimal digits. */
export const fieldReaderOf =
  (message: CardMessage, { fields }: Dialect): FieldReader =>
  (de) => {
    const value = createFieldGetter(de)(message) ?? message.more?.get(de)
    if (value === undefined || typeof value === 'string') return value
    return Buffer.from(value).toString(fields[de]?.type === 'b' ? 'hex' : 'latin1')
  }
