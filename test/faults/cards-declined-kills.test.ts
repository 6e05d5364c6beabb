import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { createTestVault, testVaultKey } from '../../src/simulators/card-network/index.ts'
import { createCardGateway, handOver } from '../support/card-gateway.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { createTestDatabase } from '../support/database.ts'
import { createScriptedNetwork } from '../support/scripted-network.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * A network that declines, holds the money all the same, and says so to nobody. Where its file says that no decline is
 * certain, each is stored with its reversal: the gateway is killed before the network confirms any, at another moment
 * each time, and the one that is started after it takes all of it back.
 */

const kills = process.env['TRILHO_LONG'] === '1' ? 12 : 2
const paymentsOfEach = 8
const settleMs = 60_000 + kills * 15_000

const until = async (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  const endMs = performance.now() + settleMs
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited for ${what}`)
    await Bun.sleep(10)
  }
}

test(
  `what was declined and is held all the same is taken back though the gateway is killed ${kills} times before that is confirmed`,
  async () => {
    const database = await createTestDatabase(2)
    const vault = createTestVault({ key: testVaultKey })
    const [network, other] = [createScriptedNetwork(), createScriptedNetwork()]
    const held = new Set<string>()
    let isConfirming = false
    network.on((request: CardMessage, peer) => {
      if (request.mti === '0100') {
        held.add(request.stan ?? '')
        peer.answer({ responseCode: '05' })
      } else if (isConfirming) {
        const { stan } = parseOriginalData(request.originalData ?? '')
        peer.answer({ responseCode: held.delete(stan) ? '00' : '25' })
      }
    })
    const file = join(temporaryDirectory(), 'messages.json')
    await Bun.write(file, JSON.stringify({ answers: { declined: [] } }))
    const gateway = await createCardGateway({
      database,
      networks: [network, other] as const,
      vaultUrl: vault.url,
      timeoutSeconds: 1,
      environment: { CARDGW_NETA_MESSAGES_FILE: file },
    })
    try {
      await gateway.start()
      const told = new Map<string, string>()
      for (let round = 0; round < kills; round++) {
        const payments = Array.from({ length: paymentsOfEach }, async (_, at) => {
          const key = `declined-${round}-${at}`
          const body = authorizationBody('tok_visa_approved', { amount: 1_000 + at })
          const answer = await gateway.post('/authorize', body, key)
          if (answer?.status === 201) told.set(String(answer.id), answer.state)
        })
        // Right behind the first answer, or while reversals are on the wire and nobody confirms them.
        if (round % 2 === 0) await Promise.race(payments)
        else {
          const { length } = network.seen.filter(({ mti }) => mti.startsWith('04'))
          await until(
            () => network.seen.filter(({ mti }) => mti.startsWith('04')).length > length,
            'a reversal',
          )
        }
        await gateway.end()
        await Promise.all(payments)
        await gateway.start()
      }
      expect(held.size).toBe(network.seen.filter(({ mti }) => mti === '0100').length)
      isConfirming = true
      await handOver(database)
      await until(() => held.size === 0, `the end of ${held.size} holds`)
      await until(async () => {
        const open = await database.sql`
          select from card_transactions where status = 'pending' or operation is not null`
        return open.length === 0
      }, 'the end of all')
      // Whoever was told that it is declined is told so still.
      expect(told.size).toBeGreaterThan(0)
      for (const [id, state] of told) {
        const [row] = await database.sql`select status from card_transactions where id = ${id}`
        expect([state, row?.['status']]).toEqual(['declined', 'declined'])
      }
    } finally {
      await gateway.end()
      for (const one of [network, other]) one.stop()
      await vault.stop()
      await database.close()
    }
  },
  settleMs + 60_000,
)
