import { hash } from 'node:crypto'
import { createXmlScanner } from '#codecs/xml'
import { signWhole } from '#codecs/xmldsig'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import type { SigningSettings } from './config.ts'
import { keyInfoId } from './envelope-signer.ts'
import { createSigner } from './index.ts'
import type { Signer } from './signer.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const scanner = createXmlScanner()

/**
 * Signs documents whole, as the directory of Pix keys has them, with what signs messages. Opens certificate and key with
 * the first document.
 */
export const createDocumentSigner = (
  settings: SigningSettings,
  material: KeyMaterial | undefined,
  onProblem: (error: Error) => void,
) => {
  let opened: Promise<Signer> | undefined
  const open = (): Promise<Signer> => {
    opened ??= createSigner(settings, material, onProblem).catch((error: unknown) => {
      // The next document may find what this one did not.
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    /**
     * @param document in canonical form
     * @returns the same where nothing is signed
     */
    sign: async (document: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> => {
      const signer = await open()
      if (signer.kind === 'none') return document
      const { identity, sign } = await signer.key()
      const whole = { ...identity, id: keyInfoId(identity), sign }
      return signWhole(scanner.scan(document), whole, sha256)
    },
    stop: (): void => {
      opened?.then(({ close }) => close()).catch(onProblem)
    },
  }
}
