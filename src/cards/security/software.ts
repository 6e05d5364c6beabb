import {
  checkValueOf,
  KeyRefusedError,
  macOf,
  PinBlockError,
  type PinFormat,
  translatePin,
  unwrapDesKey,
} from '#src/platform/security/index.ts'
import { ModuleKey, type PinSide, type SecurityModule, SecurityModuleError } from './types.ts'

/** A key has 8, 16, 24 or 32 bytes, written as hexadecimal digits. */
const keyForm = /^(?:[0-9A-Fa-f]{16}){1,4}$/

const bytesOf = (key: ModuleKey): Uint8Array => {
  const text = key.reveal()
  if (!keyForm.test(text)) throw new SecurityModuleError('refused', 'key')
  return Uint8Array.fromHex(text)
}

const sideOf = ({ key, format }: PinSide): { format: PinFormat; key: Uint8Array } => ({
  format,
  key: bytesOf(key),
})

const randomBytes = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes))

/** Rethrows what the work throws about keys and blocks, without their values. */
const refusing = async <T>(work: () => T): Promise<T> => {
  try {
    return work()
  } catch (error) {
    if (error instanceof SecurityModuleError) throw error
    if (error instanceof KeyRefusedError) throw new SecurityModuleError('refused', 'key')
    if (error instanceof PinBlockError) throw new SecurityModuleError('refused', 'PIN block')
    throw new SecurityModuleError('refused')
  }
}

/**
 * A module for trials: its keys are in clear in this process. PCI PIN wants PINs and keys in hardware only, and
 * production refuses it.
 */
export const createSoftwareModule = (): SecurityModule => ({
  mac: (key, algorithm, data) => refusing(() => macOf(algorithm, bytesOf(key), data)),
  importKey: (zone, _, wrapped) =>
    refusing(() => {
      const key = unwrapDesKey(bytesOf(zone), Uint8Array.fromHex(wrapped))
      const checkValue = checkValueOf('des', key).toHex().toUpperCase()
      const held = new ModuleKey(key.toHex())
      key.fill(0)
      return { key: held, checkValue }
    }),
  translatePin: (block, from, to, pan) =>
    refusing(() => translatePin(block, sideOf(from), sideOf(to), pan, randomBytes)),
  describe: async () => 'software, for trials only',
  start: () => undefined,
  stop: () => undefined,
})
