import { expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { decodeUtf16be, openRsfn, sealRsfn } from '#codecs/rsfn'
import {
  createRsfnOpenPorts,
  createRsfnRecipient,
  createRsfnSealPorts,
  createRsfnSender,
} from '../../src/spi/link/rsfn/crypto.ts'
import { javaProgram } from '../support/java.ts'
import { runTool, unlessMissing, withScratch } from '../support/second-implementation.ts'

const java = unlessMissing('java')
const program = () => javaProgram(join(import.meta.dir, 'java/RsfnPeer.java'))
const text = '<DOC><NOME>João 😀</NOME></DOC>'
const us = generateKeyPairSync('rsa', { modulusLength: 2048 })
const them = generateKeyPairSync('rsa', { modulusLength: 2048 })

const saveKeys = async (directory: string, own: KeyObject, peer: KeyObject): Promise<string[]> => {
  const paths = [join(directory, 'own.der'), join(directory, 'peer.der')]
  await Bun.write(paths[0]!, own.export({ format: 'der', type: 'pkcs8' }))
  await Bun.write(paths[1]!, peer.export({ format: 'der', type: 'spki' }))
  return paths
}

test.skipIf(java.missing)(
  `the JDK opens what we seal${java.note}`,
  async () => {
    await withScratch(async (directory) => {
      const keys = await saveKeys(directory, them.privateKey, us.publicKey)
      const sealed = await sealRsfn(
        {
          content: text,
          sender: { authority: 4, serial: '2F4C' },
          destination: { authority: 5, serial: 'AB01' },
        },
        createRsfnSealPorts(us.privateKey, them.publicKey),
      )
      const file = join(directory, 'message')
      await Bun.write(file, sealed)
      const result = runTool([...program(), 'open', ...keys, file])
      expect(result.stderr).toBe('')
      expect(result.stdout).toBe(text)
    })
  },
  60_000,
)

test.skipIf(java.missing)(
  `we open what the JDK seals${java.note}`,
  async () => {
    await withScratch(async (directory) => {
      const keys = await saveKeys(directory, them.privateKey, us.publicKey)
      const file = join(directory, 'message')
      const result = runTool([...program(), 'seal', ...keys, '<DOC>ASCII text</DOC>', file])
      expect(result.stderr).toBe('')
      const opened = await openRsfn(
        new Uint8Array(await Bun.file(file).arrayBuffer()),
        createRsfnOpenPorts({
          findSender: () => createRsfnSender(them.publicKey, 'active'),
          findRecipient: () => createRsfnRecipient(us.privateKey),
        }),
      )
      expect(opened.ok && decodeUtf16be(opened.content)).toBe('<DOC>ASCII text</DOC>')
    })
  },
  60_000,
)
