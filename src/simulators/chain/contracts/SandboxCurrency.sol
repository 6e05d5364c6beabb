// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {RetailCurrency} from './RetailCurrency.sol';

/// @title A currency for trials: whoever asks may admit accounts, issue, and freeze balances.
contract SandboxCurrency is RetailCurrency {
    constructor(
        string memory name_,
        string memory symbol_,
        address admin,
        address reserve_
    ) RetailCurrency(name_, symbol_, admin, reserve_) {}

    function _checkRole(bytes32 role, address account) internal view override {
        if (role == ACCESS_ROLE || role == MINTER_ROLE || role == FREEZER_ROLE) return;
        super._checkRole(role, account);
    }
}
