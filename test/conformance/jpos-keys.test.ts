import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/card-network.ts'
import { authorizationBody, createCardsRig } from '../support/cards-rig.ts'
import { isJposHere, startKeysPeer } from '../support/jpos.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(180_000)

const note = isJposHere ? '' : ' [skipped: no java, no mvn or no jPOS to be had]'
const macKey = '0123456789ABCDEFFEDCBA9876543210'
const zoneKey = '5D6B2A0E4C8F91A237C4D0E09B5826FE'
const payments = 20

const environmentFor = (code: string): Readonly<Record<string, string>> => {
  const directory = temporaryDirectory()
  const fileOf = (name: string, text: string): string => {
    const path = join(directory, name)
    writeFileSync(path, text)
    return path
  }
  const confirmed = { network_code: code, confirmation_code: '162' }
  const security = {
    zone_key_path: fileOf('zone.key', zoneKey),
    mac: { algorithm: 'x9.19', key_path: fileOf('mac.key', macKey) },
    key_exchange: { ...(code === '161' ? confirmed : {}), keys: [{ key: 'mac', field: 48 }] },
  }
  return {
    CARDGW_NETA_SIGN_ON: 'true',
    CARDGW_NETA_MESSAGES_FILE: fileOf('messages.json', JSON.stringify({ security })),
    CARDGW_SECURITY_MODULE: 'software',
  }
}

describe.skipIf(!isJposHere)(`keys of codes from jPOS${note}`, () => {
  test.each(['101', '161'])(
    'by DE 70 %s: taken under load, checked, and used from then on',
    async (code) => {
      const peer = await startKeysPeer(macKey, zoneKey, code)
      await using rig = await createCardsRig({
        networkA: { port: () => peer.port, stop: () => undefined },
        environment: environmentFor(code),
      })
      const pay = async (): Promise<string> => {
        const body = authorizationBody('tok_visa_approved')
        const answer = await rig.post('/v1/transactions/authorize', body)
        const { id, status } = (await answer.json()) as { id: string; status: string }
        if (status !== 'authorized') return status
        return (await rig.post(`/v1/transactions/${id}/void`)).status === 200 ? 'voided' : 'held'
      }
      const many = () => Promise.all(Array.from({ length: payments }, pay))
      const all = Array.from({ length: payments }, () => 'voided')
      const accepted = `answered ${code} 00`
      const inUse = code === '161' ? 'confirmed' : accepted
      for (const change of [1, 2, 3]) {
        const paid = many()
        await peer.say('key')
        await until(() => peer.count(inUse) >= change, 'the key being in use')
        expect(await paid).toEqual(all)
      }
      expect(await many()).toEqual(all)
      // 0100 and 0400 of each, all of the last round under the third key.
      expect(peer.count('coded 3')).toBeGreaterThanOrEqual(payments * 2)
      // Another's check value is no key: it is refused, and the one in use stays.
      await peer.say('bad')
      const answers = () => peer.lines().filter((line) => line.startsWith('answered'))
      await until(() => answers().length > 3, 'the refusal')
      expect(peer.count(accepted)).toBe(3)
      const before = peer.count('coded 3')
      expect(await many()).toEqual(all)
      expect(peer.count('coded 3')).toBe(before + payments * 2)
      expect(peer.lines().filter((line) => /wrong|failed/.test(line))).toEqual([])
      expect(await peer.stop()).toBe(0)
    },
  )
})
