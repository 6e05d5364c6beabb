// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';

interface IAuthorisedAccounts {
    function verifyAccount(address account) external view returns (bool);
}

/// @title The wallet at which each institution takes wholesale currency.
/// @notice The shape of the pilot's RealDigitalDefaultAccount. The authority names the first
/// wallet of an institution; after that only this wallet itself hands over to another. A wallet
/// must be one that the currency admits.
contract DefaultAccounts is AccessControl {
    bytes32 public constant ACCESS_ROLE = keccak256('ACCESS_ROLE');

    IAuthorisedAccounts public immutable token;
    /// By the first eight digits of the institution's CNPJ, as a number; zero where there is none.
    mapping(uint256 cnpj8 => address) public defaultAccount;

    event DefaultAccountChanged(uint256 indexed cnpj8, address indexed wallet);

    error AlreadyKnown(uint256 cnpj8, address wallet);
    error NotTheDefaultAccount(uint256 cnpj8, address caller);
    error AccountNotAuthorized(address account);

    constructor(IAuthorisedAccounts token_, address authority, address admin) {
        token = token_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(ACCESS_ROLE, authority);
    }

    function addDefaultAccount(uint256 cnpj8, address wallet) external onlyRole(ACCESS_ROLE) {
        address known = defaultAccount[cnpj8];
        if (known != address(0)) revert AlreadyKnown(cnpj8, known);
        _set(cnpj8, wallet);
    }

    function updateDefaultWallet(uint256 cnpj8, address newWallet) external {
        if (defaultAccount[cnpj8] != msg.sender) revert NotTheDefaultAccount(cnpj8, msg.sender);
        _set(cnpj8, newWallet);
    }

    function _set(uint256 cnpj8, address wallet) private {
        if (!token.verifyAccount(wallet)) revert AccountNotAuthorized(wallet);
        defaultAccount[cnpj8] = wallet;
        emit DefaultAccountChanged(cnpj8, wallet);
    }
}
